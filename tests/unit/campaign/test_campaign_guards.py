"""One run at a time, and a crashed run told from one that goes on, whatever the host's clock did."""

import fcntl
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from autotune.campaign.guards import (
    check_nothing_left,
    guarded,
    lock_path_of,
    recovering,
    refuse_alive,
    refuse_held_service,
    this_run,
)
from autotune.errors import Busy, Refused
from autotune.model.change import FileChanged, ServiceStopped, SysfsWritten
from autotune.process.identity import identity_of
from autotune.store.journal import FileJournal, Unfinished
from autotune.store.state import StateDirectory

CHANGE = SysfsWritten(path="/sys/x", before="a", after="b", boot_id="boot")


@pytest.fixture
def state(tmp_path) -> StateDirectory:
    (tmp_path / "state").mkdir(mode=0o700)
    return StateDirectory(root=tmp_path / "state")


@pytest.fixture
def sleeper():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def written_by(pid: int, **changes) -> Unfinished:
    return replace(this_run("r"), pid=pid, create_time=identity_of(pid).create_time, **changes)


@pytest.mark.parametrize("started_wall", [0.0, 4e9], ids=["clock set forward", "clock set back"])
def test_a_run_that_goes_on_is_known_by_its_start_since_boot_and_not_by_the_clock(sleeper, started_wall):
    with pytest.raises(Busy, match=f"process {sleeper.pid}"):
        refuse_alive(written_by(sleeper.pid, started_wall=started_wall))


def test_a_pid_that_was_given_out_again_is_no_run(sleeper):
    refuse_alive(replace(written_by(sleeper.pid), create_time=1.0))


def test_a_run_of_another_boot_is_over(sleeper):
    refuse_alive(written_by(sleeper.pid, boot_id="another"))


def test_a_suspended_run_is_told_as_that(sleeper):
    os.kill(sleeper.pid, signal.SIGSTOP)
    os.waitpid(sleeper.pid, os.WUNTRACED)
    with pytest.raises(Busy, match="suspended") as caught:
        refuse_alive(written_by(sleeper.pid))
    assert f"kill -CONT {sleeper.pid}" in caught.value.hint


def test_a_journal_of_an_older_version_is_judged_by_the_clock_it_has(sleeper):
    left = replace(written_by(sleeper.pid), create_time=None, started_wall=4e9)
    with pytest.raises(Busy):
        refuse_alive(left)
    refuse_alive(replace(left, started_wall=0.0))


def test_two_runs_of_one_state_directory_meet_also_on_different_installs(state, campaign):
    other = replace(campaign, description=replace(campaign.description, place="/elsewhere"))
    with guarded(state, campaign), pytest.raises(Busy), guarded(state, other):
        raise AssertionError("both write one crash journal")


def test_two_runs_on_one_install_meet_also_with_different_state_directories(state, tmp_path, campaign):
    place = replace(campaign, description=replace(campaign.description, place=str(tmp_path)))
    (tmp_path / "other").mkdir(mode=0o700)
    other = StateDirectory(root=tmp_path / "other")
    if lock_path_of("/x", state) != lock_path_of("/x", other):
        pytest.skip("no lock directory that both can see")
    with guarded(state, place), pytest.raises(Busy), guarded(other, place):
        raise AssertionError("both on one install")
    with guarded(state, place), pytest.raises(Busy):
        refuse_held_service(str(tmp_path), other)
    refuse_held_service(str(tmp_path), other)


def test_after_a_crash_nothing_begins_before_recover(state, campaign):
    FileJournal(state.journal, replace(this_run("r"), pid=2**22 - 1)).record(CHANGE)
    with pytest.raises(Refused, match="1 changes are open") as caught, guarded(state, campaign):
        raise AssertionError("it began")
    assert "autotune recover" in caught.value.hint
    with pytest.raises(Refused):
        check_nothing_left(state)


@pytest.mark.parametrize(
    "change",
    [
        FileChanged(
            path="/opt/a", backup="/b", before_sha256="1", after_sha256="2", mode=0o640, uid=0, gid=0
        ),
        ServiceStopped(start=("x",), config_path="/opt/a"),
    ],
)
def test_recover_holds_what_the_crashed_run_held(state, change):
    with recovering(state, [change]):
        for path in (state.lock, lock_path_of("/opt/a", state)):
            with path.open("r+b") as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
