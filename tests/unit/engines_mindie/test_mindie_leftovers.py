"""Only shared memory that our own launch left and nobody uses is removed."""

import mmap
import os

from autotune.engines.mindie.leftovers import remove_new, snapshot


def segment(directory, name):
    path = directory / name
    path.write_bytes(b"\0" * 4096)
    return path


def test_what_came_during_the_launch_is_removed(tmp_path):
    before = snapshot(tmp_path)
    new = segment(tmp_path, "llm_tokenizer_shared_memory_0")
    assert remove_new(tmp_path, before) == (new,)
    assert not new.exists()


def test_what_was_there_before_stays(tmp_path):
    old = segment(tmp_path, "x_llm_backend_1")
    before = snapshot(tmp_path)
    assert remove_new(tmp_path, before) == ()
    assert old.exists()


def test_a_segment_that_was_made_anew_under_its_old_name_is_new(tmp_path):
    old = segment(tmp_path, "llm_backend_1")
    held = old.open()  # keeps the inode from being used again
    before = snapshot(tmp_path)
    old.unlink()
    segment(tmp_path, "llm_backend_1")
    assert remove_new(tmp_path, before) == (old,)
    held.close()


def test_a_name_that_is_not_the_services_stays(tmp_path):
    before = snapshot(tmp_path)
    foreign = segment(tmp_path, "sem.other")
    assert remove_new(tmp_path, before) == ()
    assert foreign.exists()


def test_what_a_process_has_open_stays(tmp_path):
    before = snapshot(tmp_path)
    used = segment(tmp_path, "llm_backend_1")
    with used.open():
        assert remove_new(tmp_path, before) == ()
    assert used.exists()


def test_what_a_process_has_mapped_stays(tmp_path):
    before = snapshot(tmp_path)
    used = segment(tmp_path, "llm_backend_1")
    descriptor = os.open(used, os.O_RDWR)
    with mmap.mmap(descriptor, 4096):
        os.close(descriptor)
        assert remove_new(tmp_path, before) == ()
    assert remove_new(tmp_path, before) == (used,)


def test_a_link_is_never_followed(tmp_path):
    (tmp_path / "shm").mkdir()
    before = snapshot(tmp_path / "shm")
    target = segment(tmp_path, "precious")
    (tmp_path / "shm" / "llm_backend_1").symlink_to(target)
    assert remove_new(tmp_path / "shm", before) == ()
    assert target.exists()


def test_a_host_without_shared_memory_has_none(tmp_path):
    assert snapshot(tmp_path / "none") == frozenset()
