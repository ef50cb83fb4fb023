"""Memory policy: tried before it is used, read back from the kernel, and a reason where it can't be had."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.host.memory_policy import check_memory, node_of, plan_memory, policies_of
from autotune.host.setting import SettingOutcome
from autotune.host.short_command import Answer, NoAnswer

# numa_maps of Linux 6.18; `prefer (many)` is what numactl 2.0.17 asks newer kernels for
MAPS = """\
55fe6ccc2000 default file=/usr/bin/cat mapped=2 N0=2 kernelpagesize_kB=4
7f50 prefer:1 anon=3 dirty=3 N0=3 kernelpagesize_kB=4
7f51 prefer (many):1 heap anon=1 N1=1
7f52 bind=static:0-1 stack anon=2
7f53 interleave:0,2
7f54 local
"""
SET_POLICY = """
import ctypes, os, sys
kind, _, node = sys.argv[1].lstrip("-").partition("=")
number = {"x86_64": 238, "aarch64": 237}[os.uname().machine]
mask = ctypes.c_ulong(1 << int(node))
mode = {"preferred": 1, "membind": 2}[kind]
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(number, mode, ctypes.byref(mask), 65):
    sys.stderr.write(f"set_mempolicy: {os.strerror(ctypes.get_errno())}\\n")
    sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def numactl(tmp_path):
    """A program that sets the policy as numactl does; the real one is not on every machine."""
    place = tmp_path / "numactl"
    place.write_text(f"#!{sys.executable}\n{SET_POLICY}")
    place.chmod(0o755)
    return str(place)


def may_set_a_policy():
    maps = subprocess.run(
        [sys.executable, "-c", SET_POLICY, "--preferred=0", "cat", "/proc/self/numa_maps"],
        check=False,
        capture_output=True,
        text=True,
    )
    return "prefer:0" in maps.stdout


def test_every_policy_of_numa_maps_is_read():
    assert policies_of(MAPS) == {
        "default": 1,
        "prefer:1": 2,
        "bind:0-1": 1,
        "interleave:0,2": 1,
        "local": 1,
    }
    assert policies_of("no such file") == {}


@pytest.mark.skipif(not may_set_a_policy(), reason="this kernel or container has no memory policies")
@pytest.mark.parametrize(("wish", "kernel"), [("preferred", "prefer:0"), ("bind", "bind:0")])
def test_a_policy_that_holds_is_inherited_and_read_back_from_a_process(numactl, wish, kernel):
    plan = plan_memory(wish, 0, find=lambda _name: numactl)
    assert plan.result.outcome is SettingOutcome.APPLIED
    assert (plan.result.before, plan.result.after) == ("default", f"{wish} node0")
    assert plan.kernel == kernel
    code = "import subprocess, sys; subprocess.run(['sleep', '30'], check=False)"
    with subprocess.Popen([*plan.words, sys.executable, "-c", code]) as parent:
        while not (children := _children(parent.pid)):
            pass
        check = check_memory([parent.pid, *children, os.getpid()], plan.kernel)
        for child in children:
            os.kill(child, 9)
        parent.kill()
    assert check.held == 2
    assert check.others == ((os.getpid(), "default"),)


def _children(pid):
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in listed.split()]


def test_nothing_is_done_unasked():
    plan = plan_memory(None, 1)
    assert (plan.result, plan.words) == (None, ())


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        (
            Answer(code=1, errors="set_mempolicy: Operation not permitted\nsetting membind: ..."),
            SettingOutcome.DENIED,
            "CAP_SYS_NICE",
        ),
        (
            Answer(code=1, errors="libnuma: Warning: node argument 9 is out of range\n<9> is invalid"),
            SettingOutcome.UNAVAILABLE,
            "node argument 9 is out of range",
        ),
        (
            Answer(code=0, output="55fe6ccc2000 default file=/usr/bin/cat\n"),
            SettingOutcome.UNAVAILABLE,
            "it reads default",
        ),
        (Answer(code=0, output=""), SettingOutcome.UNAVAILABLE, "it reads nothing"),
        (Answer(no_answer=NoAnswer.TIMEOUT), SettingOutcome.UNAVAILABLE, "did not answer in time"),
        (Answer(code=3), SettingOutcome.UNAVAILABLE, "exit code 3"),
    ],
)
def test_a_policy_that_does_not_hold_is_a_fact_with_its_reason(answer, outcome, reason):
    plan = plan_memory("preferred", 1, run=lambda _argv, _seconds: answer, find=lambda name: f"/bin/{name}")
    assert plan.result.outcome is outcome
    assert reason in plan.result.reason
    assert (plan.words, plan.kernel) == ((), "")


def test_without_numactl_or_without_one_node_there_is_no_policy():
    missing = plan_memory("bind", 1, find=lambda _name: None)
    assert (missing.result.outcome, missing.result.reason) == (
        SettingOutcome.UNAVAILABLE,
        "numactl is not installed",
    )
    spread = plan_memory("bind", None)
    assert "one NUMA node" in spread.result.reason


def test_the_node_of_a_list_of_cpus_is_the_one_that_holds_them_all(host):
    host.nodes({0: range(24), 1: range(24, 48), 2: []})
    assert node_of(range(24, 30), host.root) == 1
    assert node_of(range(20, 30), host.root) is None
    assert node_of([], host.root) is None


def test_a_process_that_has_ended_is_left_out(host):
    host.write("proc/7/numa_maps", "7f50 prefer:1 anon=3\n7f51 default\n7f52 prefer:1\n")
    check = check_memory([7, 8], "prefer:1", root=host.root)
    assert (check.held, check.others) == (1, ())
