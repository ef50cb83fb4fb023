"""A pid alone never names a process."""

import os
import subprocess
import sys
import time
from pathlib import Path

from autotune.process.identity import (
    Identity,
    alive,
    boot_id,
    command_line,
    identity_of,
    read_stat,
    started_wall,
    stat_of,
)


def test_this_process_is_alive_and_names_itself():
    identity = identity_of(os.getpid())
    assert identity is not None
    assert alive(identity)
    assert stat_of(identity).parent == os.getppid()


def test_another_start_time_is_another_process():
    mine = identity_of(os.getpid())
    other = Identity(pid=mine.pid, create_time=mine.create_time - 0.01)
    assert not alive(other)
    assert stat_of(other) is None


def test_a_zombie_is_not_alive():
    with subprocess.Popen([sys.executable, "-c", "pass"]) as popen:
        identity = identity_of(popen.pid)
        while read_stat(popen.pid).state != "Z":
            pass
        assert not alive(identity)
    assert identity_of(popen.pid) is None


def test_a_name_with_blanks_and_brackets_does_not_shift_the_fields(tmp_path: Path):
    """The daemon's own scan of /proc misreads such names."""
    (tmp_path / "77").mkdir()
    fields = "S 1 70 71 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0"
    (tmp_path / "77" / "stat").write_text(f"77 (a (b) c) {fields}\n")
    stat = read_stat(77, tmp_path)
    assert (stat.name, stat.state, stat.parent, stat.group, stat.session) == ("a (b) c", "S", 1, 70, 71)
    assert stat.identity.create_time == 12345 / os.sysconf("SC_CLK_TCK")


def test_a_pid_that_nobody_has_is_nobody():
    assert identity_of(4194305) is None
    assert command_line(4194305) == ""


def test_the_start_can_be_held_against_a_recorded_time():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as popen:
        assert abs(started_wall(identity_of(popen.pid)) - time.time()) < 3
        popen.communicate(b"\n")


def test_the_boot_has_a_name_that_stays():
    assert boot_id() == boot_id()
    assert len(boot_id()) == 36


def test_a_command_line_is_readable():
    assert "python" in command_line(os.getpid())
