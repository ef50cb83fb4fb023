"""Every descendant is found and ended, however it tried to leave, and nobody else is ever signalled."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autotune.process.child import Child, start
from autotune.process.clock import SystemClock
from autotune.process.ending import end, send
from autotune.process.identity import Identity, alive, identity_of
from autotune.process.subreaper import adopting_orphans
from autotune.process.tree import Tree, names

CLOCK = SystemClock()

SLEEPER = "import time; time.sleep(300)"
FAMILY = """
import os, subprocess, sys, time
sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
note = open("family", "a")
def born(pid): note.write(f"{pid}\\n"); note.flush()
born(subprocess.Popen(sleeper).pid)
born(subprocess.Popen(sleeper, start_new_session=True).pid)
if os.fork() == 0:
    os.setsid()
    pid = os.fork()
    if pid == 0:
        os.execv(sleeper[0], sleeper)
    born(pid)
    os._exit(0)
os.wait()
note.write("ready\\n"); note.flush()
time.sleep(300)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("ready", "w").close()
time.sleep(300)
"""
SHELL = """
import subprocess, sys, time
from pathlib import Path
from autotune.process.child import start
sleeper = [sys.executable, "-c", "import time; time.sleep(300)"]
child = start(sleeper, env={}, cwd=Path(), output=Path("output.log"))
time.sleep(0.05)
other = subprocess.Popen(sleeper)
print(child.pid, child.identity.create_time, other.pid, flush=True)
time.sleep(300)
"""
RENAMED = """
import ctypes, os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        start = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[47])
        end = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[48])
        ctypes.memset(start, 0, end - start)
        open("ready", "w").write(str(os.getpid()))
        time.sleep(300)
    os._exit(0)
os.wait()
time.sleep(300)
"""


@pytest.fixture(autouse=True, scope="module")
def _subreaper():
    with adopting_orphans():
        yield


def python(script: str, directory: Path, **options) -> Child:
    return start(
        [sys.executable, "-c", script], env={}, cwd=directory, output=directory / "output.log", **options
    )


def wait_for(path: Path, text: str = "") -> str:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if path.exists() and text in path.read_text():
            return path.read_text()
        time.sleep(0.01)
    raise AssertionError(f"{path} never came")


def gone(pid: int) -> bool:
    return identity_of(pid) is None


def test_a_same_group_child_an_own_session_and_a_double_fork_are_all_ended(tmp_path):
    child = python(FAMILY, tmp_path)
    family = [int(word) for word in wait_for(tmp_path / "family", "ready").split()[:-1]]
    assert len(family) == 3
    ended = end(Tree(child.identity), grace=5, clock=CLOCK, child=child)
    assert ended.returncode == -signal.SIGTERM
    assert not ended.forced
    assert {stat.identity.pid for stat in ended.killed} == set(family)
    assert ended.left == ()
    assert all(gone(pid) for pid in family)


def test_orphans_are_found_after_the_root_was_killed_from_outside(tmp_path):
    child = python(FAMILY, tmp_path)
    family = [int(word) for word in wait_for(tmp_path / "family", "ready").split()[:-1]]
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait(10) == -9
    ended = end(Tree(child.identity), grace=5, clock=CLOCK, child=child)
    assert ended.returncode == -9
    assert all(gone(pid) for pid in family)


def test_another_run_ends_them_by_identity_alone(tmp_path):
    child = python(FAMILY, tmp_path)
    family = [int(word) for word in wait_for(tmp_path / "family", "ready").split()[:-1]]
    ended = end(Tree(Identity(pid=child.pid, create_time=child.identity.create_time)), grace=5, clock=CLOCK)
    assert ended.returncode is None
    assert child.wait(10) == -signal.SIGTERM
    assert all(gone(pid) for pid in family)


def test_a_process_that_wrote_over_its_environment_is_found_as_an_orphan_that_came_back(tmp_path):
    child = python(RENAMED, tmp_path)
    pid = int(wait_for(tmp_path / "ready"))
    while not (tmp_path / "ready").read_text():
        time.sleep(0.01)
    ended = end(Tree(child.identity), grace=5, clock=CLOCK, child=child)
    assert pid in {stat.identity.pid for stat in ended.killed}
    assert gone(pid)


def test_what_ignores_sigterm_is_killed_after_its_grace(tmp_path):
    child = python(STUBBORN, tmp_path)
    wait_for(tmp_path / "ready")
    ended = end(Tree(child.identity), grace=0.3, clock=CLOCK, child=child)
    assert ended.forced
    assert ended.returncode == -signal.SIGKILL


def test_a_stopped_process_hears_sigterm_all_the_same(tmp_path):
    child = python(SLEEPER, tmp_path)
    os.kill(child.pid, signal.SIGSTOP)
    ended = end(Tree(child.identity), grace=20, clock=CLOCK, child=child)
    assert (ended.returncode, ended.forced) == (-signal.SIGTERM, False)


def test_a_sibling_with_the_same_command_is_never_touched(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, other = python(SLEEPER, tmp_path / "a"), python(SLEEPER, tmp_path / "b")
    with subprocess.Popen([sys.executable, "-c", SLEEPER], start_new_session=True) as foreign:
        end(Tree(one.identity), grace=5, clock=CLOCK, child=one)
        assert alive(other.identity)
        assert foreign.poll() is None
        foreign.kill()
    end(Tree(other.identity), grace=5, clock=CLOCK, child=other)


def test_what_the_user_starts_in_the_same_session_is_never_touched_from_another_one(tmp_path):
    """The tool was killed in one terminal, and recover is called in another."""
    with subprocess.Popen(
        [sys.executable, "-c", SHELL], cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as shell:
        pid, created, other = shell.stdout.readline().split()
        root = Identity(pid=int(pid), create_time=float(created))
        ended = end(Tree(root), grace=5, clock=CLOCK)
        assert not alive(root)
        assert ended.killed == ()
        assert alive(identity_of(int(other)))
        os.kill(int(other), signal.SIGKILL)
        shell.kill()


def test_a_pid_that_now_belongs_to_another_is_not_signalled(tmp_path):
    child = python(SLEEPER, tmp_path)
    older = Identity(pid=child.pid, create_time=child.identity.create_time - 5)
    assert not send(older, signal.SIGKILL)
    ended = end(Tree(older), grace=0.1, clock=CLOCK)
    assert ended.killed == ()
    assert child.poll() is None
    end(Tree(child.identity), grace=5, clock=CLOCK, child=child)


def test_a_kernel_without_process_handles_gets_the_same_signals(tmp_path, monkeypatch):
    def missing(_pid):
        raise OSError(38, "Function not implemented")

    child = python(SLEEPER, tmp_path)
    monkeypatch.setattr(os, "pidfd_open", missing)
    assert not send(Identity(pid=child.pid, create_time=child.identity.create_time - 1), signal.SIGKILL)
    ended = end(Tree(child.identity), grace=5, clock=CLOCK, child=child)
    assert ended.returncode == -signal.SIGTERM


def test_this_process_and_init_are_never_signalled():
    assert not send(identity_of(os.getpid()), signal.SIGKILL)
    assert not send(identity_of(1), signal.SIGKILL)


def test_ending_what_is_gone_is_quiet(tmp_path):
    child = python("pass", tmp_path)
    assert child.wait(20) == 0
    ended = end(Tree(child.identity), grace=5, clock=CLOCK, child=child)
    assert (ended.returncode, ended.killed, ended.left) == (0, (), ())


def test_members_are_named_for_messages(tmp_path):
    child = python(SLEEPER, tmp_path)
    assert names(Tree(child.identity).living()).endswith(f"({child.pid})")
    end(Tree(child.identity), grace=5, clock=CLOCK, child=child)
