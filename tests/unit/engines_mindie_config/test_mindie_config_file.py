"""config.json on disk: who may read it, how it is replaced, and how it comes back."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.engines.mindie import config_file, config_writing
from autotune.engines.mindie.config_file import read, replace, restore, write_private
from autotune.errors import NotRestored, Refused
from autotune.model.change import FileChanged

SOURCE = (Path(__file__).parents[2] / "golden" / "configs" / "c26_llm_server_head.json").read_bytes()
BATCH, HOURS = '"maxBatchSize" : 200', '"dynamicLogLevelValidHours" : 2'
OTHER = SOURCE.decode().replace(BATCH, '"maxBatchSize" : 435')
assert OTHER.encode() != SOURCE


class Recorder:
    """A journal that remembers, and tells what was on disk when a change was recorded."""

    def __init__(self, fails=False):
        self.changes = []
        self.content_then = None
        self.fails = fails

    def record(self, change):
        if self.fails:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.content_then = Path(change.path).read_bytes()
        self.changes.append(change)

    def settle(self, change):
        if change in self.changes:
            self.changes.remove(change)


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "conf" / "config.json"
    path.parent.mkdir()
    path.write_bytes(SOURCE)
    path.chmod(0o640)
    return path


@pytest.fixture
def backups(tmp_path):
    return tmp_path / "state" / "backups"


def names_beside(path):
    return sorted(entry.name for entry in path.parent.iterdir())


def test_a_file_is_read_with_its_rights_and_its_fields(config):
    found = read(config)
    assert (found.raw, found.mode, found.uid) == (SOURCE, 0o640, os.geteuid())
    assert found.text.encode() == SOURCE
    assert found.document["ServerConfig"]["port"] == 1025
    assert len(found.sha256) == 64


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o700, 0o666])
def test_wider_rights_than_640_are_refused_with_the_command_that_mends_them(config, mode):
    config.chmod(mode)
    with pytest.raises(Refused, match="permisssion is 640") as caught:
        read(config)
    assert caught.value.hint == f"chmod 640 {config}"


def test_another_owner_is_refused_with_the_command_that_mends_it(config):
    with pytest.raises(Refused, match="owner id diff") as caught:
        read(config, daemon_uid=os.geteuid() + 1)
    assert caught.value.hint == f"chown {os.geteuid() + 1} {config}"


def test_a_link_is_refused_with_the_command_that_puts_the_file_in_its_place(config, tmp_path):
    link = tmp_path / "config.json"
    link.symlink_to(config)
    with pytest.raises(Refused, match="is a link") as caught:
        read(link)
    assert subprocess.run(caught.value.hint.split(), check=True).returncode == 0
    assert read(link).raw == SOURCE


def test_a_missing_file_a_folder_and_a_path_below_a_file_are_refused(config, tmp_path):
    for path in (tmp_path / "none.json", config / "config.json"):
        with pytest.raises(Refused, match="does not exist"):
            read(path)
    with pytest.raises(Refused, match="no regular file"):
        read(tmp_path)


@pytest.mark.parametrize("content", [b"", b" " * (10 * 1024 * 1024 + 1)])
def test_an_empty_and_a_huge_file_are_refused(config, content):
    config.write_bytes(content)
    with pytest.raises(Refused) as caught:
        read(config)
    assert "put a backup" in caught.value.hint


def test_a_file_that_is_no_json_is_refused_with_path_and_place(config):
    config.write_bytes(SOURCE.replace(BATCH.encode(), BATCH.encode() + b" // most"))
    with pytest.raises(Refused, match=r"config\.json: line \d+, column \d+: a comment") as caught:
        read(config)
    assert caught.value.hint == "remove the comment: the service takes none"


def test_a_byte_that_is_no_utf8_is_refused(config):
    config.write_bytes(SOURCE.replace(b"llama_65b", b"llama\xff65b"))
    with pytest.raises(Refused, match=r"a byte that is no UTF-8"):
        read(config)


def test_a_replaced_file_keeps_its_rights_and_leaves_nothing_beside_it(config, backups):
    config.chmod(0o600)
    journal = Recorder()
    change = replace(config, OTHER, journal, backups)
    assert config.read_text() == OTHER
    assert config.stat().st_mode & 0o777 == 0o600
    assert names_beside(config) == ["config.json"]
    assert Path(change.backup).read_bytes() == SOURCE
    assert Path(change.backup).stat().st_mode & 0o777 == 0o600
    assert backups.stat().st_mode & 0o777 == 0o700


def test_the_journal_is_written_before_the_file(config, backups):
    journal = Recorder()
    change = replace(config, OTHER, journal, backups)
    assert journal.content_then == SOURCE
    assert journal.changes == [change]


def test_restoring_gives_every_byte_and_the_rights_back(config, backups):
    journal = Recorder()
    change = replace(config, OTHER, journal, backups)
    config.chmod(0o600)
    restore(change, journal=journal)
    assert config.read_bytes() == SOURCE
    assert config.stat().st_mode & 0o777 == 0o640
    assert journal.changes == []
    assert list(backups.iterdir()) == []


def test_restoring_twice_is_fine(config, backups):
    journal = Recorder()
    change = replace(config, OTHER, journal, backups)
    restore(change, journal=journal)
    restore(change, journal=journal)
    assert config.read_bytes() == SOURCE


def test_somebody_elses_edit_is_never_overwritten(config, backups):
    change = replace(config, OTHER, Recorder(), backups)
    edited = OTHER.replace('"port" : 1025', '"port" : 1035')
    assert edited != OTHER
    config.write_text(edited)
    with pytest.raises(NotRestored) as caught:
        restore(change)
    assert caught.value.exit_code == 4
    assert config.read_text() == edited
    assert Path(change.backup).read_bytes() == SOURCE
    assert caught.value.hint == f"diff {change.backup} {config}"


@pytest.mark.parametrize("was", [SOURCE.decode(), OTHER])
def test_what_the_service_itself_rewrites_is_no_hindrance(config, backups, was):
    change = replace(config, OTHER, Recorder(), backups)
    rewritten = was.replace(HOURS, '"dynamicLogLevelValidHours" : 4')
    assert rewritten != was
    config.write_text(rewritten)
    restore(change)
    now = config.read_text().replace('"dynamicLogLevelValidHours" : 4', HOURS)
    assert now.encode() == SOURCE


def test_a_missing_file_is_not_restored_and_the_command_that_does_it_is_named(config, backups):
    change = replace(config, OTHER, Recorder(), backups)
    config.unlink()
    with pytest.raises(NotRestored) as caught:
        restore(change)
    assert caught.value.hint == f"cp -p {change.backup} {config}"


def test_a_spoilt_backup_is_never_put_in_place(config, backups):
    change = replace(config, OTHER, Recorder(), backups)
    Path(change.backup).write_text("{}")
    with pytest.raises(NotRestored, match="is not what"):
        restore(change)
    assert config.read_text() == OTHER


def test_extended_attributes_are_kept(config, backups):
    try:
        os.setxattr(config, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    change = replace(config, OTHER, Recorder(), backups)
    assert os.getxattr(config, "user.note") == b"kept"
    restore(change)
    assert os.getxattr(config, "user.note") == b"kept"


def test_a_file_that_cannot_be_renamed_over_is_written_in_place_and_that_is_announced(
    config, backups, monkeypatch
):
    def busy(self, target):
        raise OSError(errno.EBUSY, "Device or resource busy", str(self), None, str(target))

    monkeypatch.setattr(Path, "replace", busy)
    inode, said = config.stat().st_ino, []
    change = replace(config, OTHER, Recorder(), backups, announce=said.append)
    assert config.read_text() == OTHER
    assert config.stat().st_ino == inode
    assert "written in place" in said[0]
    assert names_beside(config) == ["config.json"]
    restore(change)
    assert config.read_bytes() == SOURCE


def full(*_arguments):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["write_new", "put"])
def test_a_full_disk_leaves_everything_as_it_was(config, backups, monkeypatch, step):
    journal = Recorder()
    monkeypatch.setattr(config_file, step, full)
    with pytest.raises(Refused, match="No space left on device"):
        replace(config, OTHER, journal, backups)
    assert config.read_bytes() == SOURCE
    assert names_beside(config) == ["config.json"]
    assert journal.changes == []
    assert list(backups.iterdir()) == []


def test_a_disk_that_fills_up_while_the_file_is_synced_leaves_everything_as_it_was(
    config, backups, monkeypatch
):
    journal, sync = Recorder(), os.fsync

    def fail_at_the_file(descriptor):
        if Path(f"/proc/self/fd/{descriptor}").readlink().parent == config.parent:
            full()
        sync(descriptor)

    monkeypatch.setattr(config_writing.os, "fsync", fail_at_the_file)
    with pytest.raises(Refused, match="No space left"):
        replace(config, OTHER, journal, backups)
    assert config.read_bytes() == SOURCE
    assert names_beside(config) == ["config.json"]
    assert journal.changes == []


def test_a_journal_that_cannot_be_written_keeps_the_file_as_it_was(config, backups):
    with pytest.raises(Refused, match="No space left"):
        replace(config, OTHER, Recorder(fails=True), backups)
    assert config.read_bytes() == SOURCE
    assert list(backups.iterdir()) == []


def test_a_writing_in_place_that_was_torn_is_told_from_an_edit():
    before, after = b"a" * 5000, b"b" * 6000
    torn = [
        before,
        before.ljust(6000, b"\0"),
        after[:4096] + before[4096:].ljust(1904, b"\0"),
        after,
    ]
    assert [config_writing.is_torn(now, before, after) for now in torn] == [False, True, True, True]
    assert not config_writing.is_torn(after[:100] + before[100:], before, after)


def test_a_private_copy_has_the_rights_that_the_service_asks_for(tmp_path):
    path = tmp_path / "private" / "config.json"
    write_private(path, OTHER)
    write_private(path, OTHER)
    assert read(path).text == OTHER
    assert path.stat().st_mode & 0o777 == 0o640


CRASHING = """
import os, sys
from pathlib import Path
from autotune.engines.mindie import config_file, config_writing

class Journal:
    def record(self, change):
        import json, dataclasses
        Path(sys.argv[3]).write_text(json.dumps(dataclasses.asdict(change)))
        if sys.argv[4] == "recorded":
            os._exit(9)
    def settle(self, change):
        pass

sync = os.fsync
def dying(descriptor):
    sync(descriptor)
    name = os.readlink(f"/proc/self/fd/{descriptor}")
    if sys.argv[4] == "synced" and Path(name).parent == Path(sys.argv[1]).parent:
        os._exit(9)
config_writing.os.fsync = dying
path = Path(sys.argv[1])
text = path.read_text().replace('"maxBatchSize" : 200', '"maxBatchSize" : 435')
config_file.replace(path, text, Journal(), Path(sys.argv[2]))
os._exit(9)
"""


@pytest.mark.parametrize("moment", ["recorded", "synced", "replaced"])
def test_a_death_at_any_moment_is_mended_from_the_journal(config, backups, tmp_path, moment):
    record = tmp_path / "record.json"
    arguments = [sys.executable, "-c", CRASHING, str(config), str(backups), str(record), moment]
    root = Path(__file__).parents[3]
    died = subprocess.run(arguments, check=False, cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
    assert died.returncode == 9
    change = FileChanged(**json.loads(record.read_text()))
    restore(change, journal=Recorder())
    assert config.read_bytes() == SOURCE
    assert config.stat().st_mode & 0o777 == 0o640
    assert names_beside(config) == ["config.json"]


def test_a_disk_that_fills_up_during_a_writing_in_place_leaves_the_old_content(config, backups, monkeypatch):
    def busy(self, target):
        raise OSError(errno.EBUSY, "Device or resource busy", str(self), None, str(target))

    write, calls = os.pwrite, []

    def fail_once(descriptor, data, offset):
        calls.append(offset)
        if len(calls) == 1:
            full()
        return write(descriptor, data, offset)

    monkeypatch.setattr(Path, "replace", busy)
    monkeypatch.setattr(config_writing.os, "pwrite", fail_once)
    with pytest.raises(Refused, match="No space left"):
        replace(config, OTHER + " " * 9000, Recorder(), backups)
    assert config.read_bytes() == SOURCE


def test_rights_that_changed_are_put_back_though_the_content_is_right(config, backups):
    change = replace(config, OTHER, Recorder(), backups)
    restore(change)
    config.chmod(0o600)
    restore(change)
    assert config.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays_through_replacing_and_restoring(config, backups):
    os.chown(config, 12345, 23456)
    change = replace(config, OTHER, Recorder(), backups)
    now, kept = config.stat(), Path(change.backup).stat()
    assert (now.st_uid, now.st_gid) == (kept.st_uid, kept.st_gid) == (12345, 23456)
    restore(change)
    assert (config.stat().st_uid, config.stat().st_gid) == (12345, 23456)


def test_a_file_system_without_attributes_is_no_hindrance(config, backups, monkeypatch):
    def none(*_arguments, **_options):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(config_writing.os, "listxattr", none)
    replace(config, OTHER, Recorder(), backups)
    assert config.read_text() == OTHER


def test_attributes_that_only_the_system_may_set_are_no_hindrance(config, backups, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(config_writing.os, "listxattr", lambda *_a, **_o: ["security.selinux"])
    monkeypatch.setattr(config_writing.os, "getxattr", lambda *_a, **_o: b"label")
    monkeypatch.setattr(config_writing.os, "setxattr", refuse)
    replace(config, OTHER, Recorder(), backups)
    assert config.read_text() == OTHER


def test_a_torn_writing_in_place_is_mended(config, backups):
    long = OTHER + " " * 9000
    change = replace(config, long, Recorder(), backups)
    torn = long.encode()[:4096] + SOURCE[4096:].ljust(len(long) - 4096, b"\0")
    config.write_bytes(torn)
    restore(change)
    assert config.read_bytes() == SOURCE
