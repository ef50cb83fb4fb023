import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys

import pytest

from autotune.errors import NotRestored
from autotune.model.change import FileChanged, ProcessStarted, SysfsWritten
from autotune.store.journal import FileJournal, Unfinished, unfinished

HEADER = Unfinished(run="r1", pid=7, boot_id="boot", started_wall=1.0)
CONFIG = FileChanged(
    path="/opt/mindie/conf/config.json",
    backup="/var/lib/ascend-autotune/runs/r1/config.json",
    before_sha256="aa",
    after_sha256="bb",
    mode=0o640,
    uid=0,
    gid=0,
)
DAEMON = ProcessStarted(pid=99, create_time=12.25, boot_id="boot", command="mindieservice_daemon")
GOVERNOR = SysfsWritten(path="/sys/x", before="schedutil", after="performance", boot_id="boot")


def test_nothing_recorded_means_no_file(tmp_path):
    path = tmp_path / "journal.json"
    FileJournal(path, HEADER)
    assert not path.exists()
    assert unfinished(path) is None


def test_what_was_recorded_is_read_back_oldest_first(tmp_path):
    path = tmp_path / "journal.json"
    journal = FileJournal(path, HEADER)
    for change in (CONFIG, GOVERNOR, DAEMON):
        journal.record(change)
    found = unfinished(path)
    assert found is not None
    assert (found.run, found.changes) == ("r1", (CONFIG, GOVERNOR, DAEMON))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_file_goes_with_the_last_settled_change(tmp_path):
    path = tmp_path / "journal.json"
    journal = FileJournal(path, HEADER)
    journal.record(CONFIG)
    journal.record(DAEMON)
    journal.settle(CONFIG)
    found = unfinished(path)
    assert found is not None
    assert found.changes == (DAEMON,)
    journal.settle(DAEMON)
    assert list(tmp_path.iterdir()) == []


def test_recording_twice_and_settling_twice_is_the_same_as_once(tmp_path):
    journal = FileJournal(tmp_path / "journal.json", HEADER)
    journal.record(CONFIG)
    journal.record(CONFIG)
    assert journal.changes == (CONFIG,)
    journal.settle(CONFIG)
    journal.settle(CONFIG)
    assert journal.changes == ()


def test_a_journal_of_a_crashed_run_is_never_overwritten(tmp_path):
    path = tmp_path / "journal.json"
    FileJournal(path, HEADER).record(CONFIG)
    other = FileJournal(path, Unfinished(run="r2", pid=8, boot_id="boot", started_wall=2.0))
    assert other.changes == (CONFIG,)
    other.record(DAEMON)
    found = unfinished(path)
    assert found is not None
    assert (found.run, found.changes) == ("r1", (CONFIG, DAEMON))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"run": "r1"}', '{"run": 1}'])
def test_a_damaged_journal_calls_for_a_person(tmp_path, text):
    path = tmp_path / "journal.json"
    path.write_text(text)
    with pytest.raises(NotRestored, match="crash journal") as caught:
        unfinished(path)
    assert caught.value.exit_code == 4
    assert path.read_text() == text


def test_a_path_with_bytes_that_are_no_text_survives(tmp_path):
    odd = SysfsWritten(path=os.fsdecode(b"/sys/\xff"), before="a", after="b", boot_id="c")
    path = tmp_path / "journal.json"
    FileJournal(path, HEADER).record(odd)
    found = unfinished(path)
    assert found is not None
    assert found.changes == (odd,)


WRITER = """
import sys
from pathlib import Path
from autotune.model.change import SysfsWritten
from autotune.store.journal import FileJournal, Unfinished
journal = FileJournal(Path(sys.argv[1]), Unfinished(run="r", pid=1, boot_id="b", started_wall=0.0))
for at in range(100000):
    change = SysfsWritten(path=str(at), before="x" * 2000, after="y", boot_id="b")
    journal.record(change)
    print(at, flush=True)
    if at > 3:
        journal.settle(journal.changes[0])
"""


def test_kill_9_at_any_moment_leaves_a_whole_journal(tmp_path):
    path = tmp_path / "journal.json"
    for lines in (1, 2, 7):
        argv = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            last = [writer.stdout.readline() for _ in range(lines)][-1]
            writer.send_signal(signal.SIGKILL)
            writer.wait()
        found = unfinished(path)
        assert found is not None
        assert int(last) in [int(change.path) for change in found.changes]
        assert json.loads(path.read_text())["format"] == 1
        path.unlink()


def test_a_full_disk_does_not_stop_what_is_put_back(tmp_path, monkeypatch):
    path = tmp_path / "journal.json"
    journal = FileJournal(path, HEADER)
    journal.record(CONFIG)
    journal.record(DAEMON)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("autotune.store.journal.replace_text", full)
    journal.settle(DAEMON)
    assert journal.changes == (CONFIG,)
    found = unfinished(path)
    assert found is not None
    assert found.changes == (CONFIG, DAEMON)  # more than is open, never less
    journal.settle(CONFIG)
    assert not path.exists()


def test_a_directory_that_was_deleted_meanwhile_does_not_stop_what_is_put_back(tmp_path):
    folder = tmp_path / "state"
    folder.mkdir()
    journal = FileJournal(folder / "journal.json", HEADER)
    journal.record(CONFIG)
    journal.record(DAEMON)
    shutil.rmtree(folder)
    journal.settle(DAEMON)
    journal.settle(CONFIG)
    assert journal.changes == ()
