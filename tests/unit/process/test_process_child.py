"""A child is prepared as MindIE's daemon and vLLM need it, and named before it runs anything."""

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from autotune.errors import LaunchCause, LaunchFailed
from autotune.process import child as child_module
from autotune.process.child import MARKER, Child, start
from autotune.process.identity import Identity, alive, identity_of

TELL = """
import json, os, resource, sys
print(json.dumps({
    "pid": os.getpid(), "group": os.getpgrp(), "session": os.getsid(0),
    "core": resource.getrlimit(resource.RLIMIT_CORE), "cwd": os.getcwd(), "env": dict(os.environ),
    "stdin": os.readlink("/proc/self/fd/0"), "cpus": sorted(os.sched_getaffinity(0)),
    "fds": sorted(os.listdir("/proc/self/fd")),
}), flush=True)
print("on stderr", file=sys.stderr)
"""


def python(script: str, directory: Path, **options) -> Child:
    options = {"env": {"A": "1"}, "cwd": directory, "output": directory / "output.log"} | options
    return start([sys.executable, "-c", script], **options)


def told(directory: Path, **options) -> dict:
    child = python(TELL, directory, **options)
    assert child.wait(20) == 0
    return json.loads(child.output.read_text().splitlines()[0])


def test_it_leads_its_own_process_group_but_no_session(tmp_path):
    facts = told(tmp_path)
    assert facts["group"] == facts["pid"]
    assert facts["session"] == os.getsid(0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_ctrl_c_before_it_has_left_our_process_group_does_not_reach_it(tmp_path, monkeypatch, number):
    """A terminal sends it to the whole group: the start of production must not end with a second Ctrl-C."""
    slow, told = tmp_path / "slow.py", tmp_path / "told"
    real = str(child_module._EXEC_CHILD)
    slow.write_text(
        f"import runpy, time; open({str(told)!r}, 'w').close(); time.sleep(0.3)\n"
        f"runpy.run_path({real!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(child_module, "_EXEC_CHILD", slow)

    def press(identity):
        while not told.exists():
            time.sleep(0.01)
        os.kill(identity.pid, number)

    script = (
        "import signal, time; print(signal.pthread_sigmask(signal.SIG_BLOCK, []), flush=True); time.sleep(60)"
    )
    child = python(script, tmp_path, before_exec=press)
    deadline = time.monotonic() + 20
    while not child.output.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert child.output.read_text() == "set()\n"  # nothing stays blocked
    os.kill(child.pid, number)
    assert child.wait(20) == -number


def test_setpgrp_succeeds_in_it_as_the_daemon_needs(tmp_path):
    child = python("import os; os.setpgid(0, 0)", tmp_path)
    assert child.wait(20) == 0


def test_setpgrp_fails_in_a_session_leader_which_is_why_a_new_session_is_for_others(tmp_path):
    script = "import os\ntry: os.setpgid(0, 0)\nexcept PermissionError: raise SystemExit(255)"
    child = python(script, tmp_path, new_session=True)
    assert child.wait(20) == 255


def test_a_new_session_is_led_by_the_child(tmp_path):
    facts = told(tmp_path, new_session=True)
    assert facts["session"] == facts["group"] == facts["pid"]


def test_no_core_no_terminal_own_directory_and_only_the_given_environment(tmp_path):
    facts = told(tmp_path)
    assert facts["core"] == [0, 0]
    assert facts["stdin"] == "/dev/null"
    assert facts["cwd"] == str(tmp_path)
    facts["env"].pop("LC_CTYPE", None)  # Python itself adds it in a bare environment
    assert set(facts["env"]) == {"A", MARKER}
    assert facts["env"][MARKER].startswith(f"{facts['pid']}.")


def test_no_descriptor_of_the_starter_leaks(tmp_path):
    with (tmp_path / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)  # noqa: FBT003 - its signature
        facts = told(tmp_path)
    assert facts["fds"] == ["0", "1", "2", "3"]  # 3 is the listing itself


def test_stdout_and_stderr_go_to_the_file_which_others_cannot_read(tmp_path):
    child = python(TELL, tmp_path)
    child.wait(20)
    assert "on stderr" in child.output.read_text()
    assert child.output.stat().st_mode & 0o777 == 0o600


def test_bytes_of_the_environment_survive_even_when_they_are_no_utf8(tmp_path):
    odd = os.fsdecode(b"\xff\xfe=x")
    script = "import os; print(os.environb[b'ODD'].hex())"
    child = python(script, tmp_path, env={"ODD": odd})
    child.wait(20)
    assert child.output.read_text().strip() == b"\xff\xfe=x".hex()


def test_cpus_are_set_and_read_back(tmp_path):
    one = min(os.sched_getaffinity(0))
    assert told(tmp_path, cpus=[one])["cpus"] == [one]


def test_cpus_that_the_kernel_drops_without_a_word_stop_the_start(tmp_path):
    one = min(os.sched_getaffinity(0))
    with pytest.raises(LaunchFailed, match=r"CPUs .* were asked for, the kernel gives"):
        python(TELL, tmp_path, cpus=[one, 1000])


def test_a_missing_command_is_told_at_once(tmp_path):
    with pytest.raises(LaunchFailed, match="No such file") as failure:
        start([str(tmp_path / "none")], env={}, cwd=tmp_path, output=tmp_path / "out")
    assert failure.value.cause is LaunchCause.UNKNOWN


def test_a_working_directory_that_is_a_file_is_a_permission_failure(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LaunchFailed) as failure:
        start(["/bin/true"], env={}, cwd=tmp_path / "file", output=tmp_path / "out")
    assert failure.value.cause is LaunchCause.PERMISSION


def test_the_journal_hears_the_identity_before_the_command_runs(tmp_path):
    heard: list[Identity] = []

    def record(identity: Identity) -> None:
        heard.append(identity)
        assert identity_of(identity.pid) == identity
        time.sleep(0.05)
        assert not (tmp_path / "ran").exists()

    child = python(f"open({str(tmp_path / 'ran')!r}, 'w')", tmp_path, before_exec=record)
    assert child.wait(20) == 0
    assert heard == [child.identity]
    assert (tmp_path / "ran").exists()


def test_nothing_runs_and_nothing_is_left_when_the_journal_fails(tmp_path):
    heard: list[Identity] = []

    def fail(identity: Identity) -> None:
        heard.append(identity)
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        python(f"open({str(tmp_path / 'ran')!r}, 'w')", tmp_path, before_exec=fail)
    assert not alive(heard[0])
    assert not (tmp_path / "ran").exists()


def test_a_preparing_process_that_is_killed_is_no_started_command(tmp_path):
    with pytest.raises(LaunchFailed, match="killed from outside") as failure:
        python("pass", tmp_path, before_exec=kill_and_wait)
    assert failure.value.cause is LaunchCause.CRASHED


def kill_and_wait(identity: Identity) -> None:
    os.kill(identity.pid, signal.SIGKILL)
    while alive(identity):
        time.sleep(0.01)


def test_the_identity_stays_through_exec(tmp_path):
    child = python("import time; time.sleep(60)", tmp_path)
    assert identity_of(child.pid) == child.identity
    os.kill(child.pid, 9)
    assert child.wait(20) == -9
    assert child.poll() == -9


def test_the_starter_keeps_its_own_limits_and_group(tmp_path):
    before = (resource.getrlimit(resource.RLIMIT_CORE), os.getpgrp(), Path.cwd())
    told(tmp_path)
    assert before == (resource.getrlimit(resource.RLIMIT_CORE), os.getpgrp(), Path.cwd())
