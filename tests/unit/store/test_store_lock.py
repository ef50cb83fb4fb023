import subprocess
import sys

import pytest

from autotune.errors import Busy
from autotune.store.lock import hold, this_process


def test_a_second_holder_is_told_who_has_it(tmp_path):
    path = tmp_path / "lock"
    words = r"process \d+ \(tune llama3\), since 20"
    with hold(path, this_process("tune llama3")), pytest.raises(Busy, match=words) as caught, hold(path):
        raise AssertionError("held twice")
    assert caught.value.exit_code == 75
    with hold(path):
        pass


def test_an_error_inside_frees_the_lock(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(ZeroDivisionError), hold(path):
        raise ZeroDivisionError
    with hold(path):
        pass


def test_a_child_that_outlives_the_holder_does_not_keep_the_lock(tmp_path):
    path = tmp_path / "lock"
    with hold(path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    try:
        with hold(path):
            pass
    finally:
        child.communicate(b"\n")


def test_a_killed_holder_leaves_no_lock(tmp_path):
    path = tmp_path / "lock"
    script = (
        "import sys; from pathlib import Path; from autotune.store.lock import hold\n"
        "with hold(Path(sys.argv[1])): print('held', flush=True); input()"
    )
    argv = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(Busy, match=str(holder.pid)), hold(path):
            raise AssertionError("held twice")
        holder.kill()
        holder.wait()
    with hold(path):
        pass


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path):
    target = tmp_path / "precious"
    target.write_text("keep")
    (tmp_path / "lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"), hold(tmp_path / "lock"):
        raise AssertionError("held a link")
    assert target.read_text() == "keep"


def test_a_holder_without_a_name_is_still_busy(tmp_path):
    path = tmp_path / "lock"
    with hold(path):
        path.write_text("")
        with pytest.raises(Busy, match=f"another run holds {path}$"), hold(path):
            raise AssertionError("held twice")
