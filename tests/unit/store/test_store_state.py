import os
import stat
from pathlib import Path

import pytest

from autotune.errors import Refused
from autotune.store.state import StateDirectory, locate, make_private, make_private_file


@pytest.mark.parametrize(
    ("given", "environment", "uid", "expected"),
    [
        (Path("/srv/state"), {"HOME": "/home/user"}, 0, "/srv/state"),
        (None, {"HOME": "/root", "XDG_STATE_HOME": "/x"}, 0, "/var/lib/ascend-autotune"),
        (None, {"HOME": "/home/user", "XDG_STATE_HOME": "/x"}, 1000, "/x/ascend-autotune"),
        (None, {"HOME": "/home/user"}, 1000, "/home/user/.local/state/ascend-autotune"),
        (
            None,
            {"HOME": "/home/user", "XDG_STATE_HOME": "x"},
            1000,
            "/home/user/.local/state/ascend-autotune",
        ),
    ],
)
def test_the_given_directory_wins_then_the_system_then_the_users(given, environment, uid, expected):
    assert locate(given, environment=environment, uid=uid).root == Path(expected)


def test_without_any_home_the_next_step_is_named():
    with pytest.raises(Refused, match="HOME") as caught:
        locate(None, environment={}, uid=1000)
    assert "store.state" in caught.value.hint


def test_directories_are_private_and_files_too(tmp_path):
    state = StateDirectory(root=tmp_path / "a" / "state")
    state.make(uid=os.getuid())
    make_private_file(state.database)
    assert stat.S_IMODE(state.root.stat().st_mode) == 0o700
    assert stat.S_IMODE((state.root / "runs").stat().st_mode) == 0o700
    assert stat.S_IMODE(state.database.stat().st_mode) == 0o600
    assert state.database_url == f"sqlite:///{state.database}"
    assert {state.journal.parent, state.lock.parent, state.run("r").parent.parent} == {state.root}


def test_a_wide_directory_of_ours_is_narrowed(tmp_path):
    wide = tmp_path / "wide"
    wide.mkdir(mode=0o755)
    make_private(wide, uid=os.getuid())
    assert stat.S_IMODE(wide.stat().st_mode) == 0o700


def test_a_directory_of_another_user_is_refused(tmp_path):
    with pytest.raises(Refused, match="another user"):
        make_private(tmp_path, uid=os.getuid() + 1)


def test_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(Refused, match="link"):
        make_private(tmp_path / "link", uid=os.getuid())


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Refused, match="cannot create"):
        make_private(tmp_path / "file" / "state", uid=os.getuid())
