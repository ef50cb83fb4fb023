"""config.json on real file systems: a bind mount, a full one, a read-only one; nothing is lost on any."""

import os
import subprocess
from pathlib import Path

import pytest

from autotune.engines.mindie.config_file import replace, restore
from autotune.errors import NotRestored, Refused

SOURCE = (Path(__file__).parents[2] / "golden" / "configs" / "c26_llm_server_head.json").read_bytes()
OTHER = SOURCE.decode().replace('"maxBatchSize" : 200', '"maxBatchSize" : 435')
KIB = 1024


class Recorder:
    """A journal that remembers."""

    def __init__(self):
        self.changes = []

    def record(self, change):
        self.changes.append(change)

    def settle(self, change):
        if change in self.changes:
            self.changes.remove(change)


@pytest.fixture
def mount(tmp_path):
    """Mount something for one test; needs root with the right to mount."""
    mounted: list[Path] = []

    def run(target: Path, *options: str) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root may mount")
        done = subprocess.run(["mount", *options, str(target)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"no mounts here: {done.stderr.strip()}")
        mounted.append(target)

    yield run
    for target in reversed(mounted):
        subprocess.run(["umount", "-l", str(target)], check=False, capture_output=True)


def written(path: Path) -> Path:
    path.write_bytes(SOURCE)
    path.chmod(0o640)
    return path


@pytest.fixture
def small(tmp_path, mount) -> Path:
    """A file system of 64 KiB with the configuration on it."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount(folder, "-t", "tmpfs", "-o", "size=64k,nr_inodes=100", "tmpfs")
    return written(folder / "config.json")


def fill(folder: Path) -> None:
    """Take every block that is left."""
    try:
        with (folder / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * KIB)
    except OSError:
        return


def test_a_bind_mounted_file_is_written_in_place_announced_and_put_back(tmp_path, mount):
    """As `docker -v config.json:...` mounts it: it cannot be renamed over (EBUSY)."""
    source, config = written(tmp_path / "source.json"), written(tmp_path / "config.json")
    mount(config, "--bind", str(source))
    journal, said = Recorder(), []
    change = replace(config, OTHER, journal, tmp_path / "backups", announce=said.append)
    assert source.read_text() == config.read_text() == OTHER
    assert "bind mount" in said[0]
    restore(change, journal=journal)
    assert source.read_bytes() == SOURCE
    assert (journal.changes, list((tmp_path / "backups").iterdir())) == ([], [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backups", "config.json", "source.json"]


def test_on_a_full_disk_nothing_is_begun(small, tmp_path):
    fill(small.parent)
    journal = Recorder()
    with pytest.raises(Refused, match="No space left on device") as refused:
        replace(small, OTHER, journal, tmp_path / "backups")
    assert "nothing was changed" in refused.value.hint
    assert (small.read_bytes(), journal.changes) == (SOURCE, [])
    assert sorted(path.name for path in small.parent.iterdir()) == ["config.json", "filler"]


def test_without_room_for_the_backup_nothing_is_begun(small, tmp_path):
    config = written(tmp_path / "config.json")
    fill(small.parent)
    journal = Recorder()
    with pytest.raises(Refused, match="No space left on device"):
        replace(config, OTHER, journal, small.parent / "backups")
    assert (config.read_bytes(), journal.changes) == (SOURCE, [])


def test_a_disk_that_is_full_at_the_end_gets_the_file_back_all_the_same(small, tmp_path):
    journal = Recorder()
    change = replace(small, OTHER, journal, tmp_path / "backups")
    fill(small.parent)
    restore(change, journal=journal)
    assert (small.read_bytes(), journal.changes) == (SOURCE, [])
    assert small.stat().st_mode & 0o777 == 0o640


def test_a_read_only_disk_is_refused_and_at_the_end_told_with_what_puts_it_back(small, tmp_path, mount):
    journal = Recorder()
    change = replace(small, OTHER, journal, tmp_path / "backups")
    subprocess.run(["mount", "-o", "remount,ro", str(small.parent)], check=True)
    with pytest.raises(Refused, match="Read-only file system"):
        replace(small, SOURCE.decode(), Recorder(), tmp_path / "others")
    with pytest.raises(NotRestored, match="Read-only file system") as failed:
        restore(change, journal=journal)
    assert failed.value.hint == f"cp -p {change.backup} {small}"
    subprocess.run(["mount", "-o", "remount,rw", str(small.parent)], check=True)
    restore(change, journal=journal)
    assert (small.read_bytes(), journal.changes) == (SOURCE, [])


def test_a_folder_that_is_read_only_around_a_writable_file_is_no_hindrance(small, tmp_path, mount):
    """The file of a container's read-only root, mounted from outside."""
    source = written(tmp_path / "source.json")
    mount(small, "--bind", str(source))
    subprocess.run(["mount", "-o", "remount,ro", str(small.parent)], check=True)
    said: list[str] = []
    change = replace(small, OTHER, Recorder(), tmp_path / "backups", announce=said.append)
    assert (source.read_text(), len(said)) == (OTHER, 1)
    restore(change)
    assert source.read_bytes() == SOURCE
