"""The kernel's own kills are counted in the cgroup; where it does not tell, nothing is claimed."""

import pytest

from autotune.process.kernel_kills import kernel_kills


def laid(tmp_path, cgroup: str, events: str | None, place: str = ""):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(cgroup)
    folder = tmp_path / "cgroup" / place
    folder.mkdir(parents=True, exist_ok=True)
    if events is not None:
        (folder / "memory.events").write_text(events)
    return kernel_kills(tmp_path / "proc", tmp_path / "cgroup")


EVENTS = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n"


def test_kills_of_our_own_cgroup_are_counted(tmp_path):
    assert laid(tmp_path, "0::/system.slice/tune.service\n", EVENTS, "system.slice/tune.service") == 2


def test_a_container_is_its_own_root(tmp_path):
    assert laid(tmp_path, "0::/\n", EVENTS) == 2


@pytest.mark.parametrize(
    ("cgroup", "events"),
    [("4:memory:/x\n", EVENTS), ("0::/\n", None), ("0::/\n", "oom 1\n"), ("0::/\n", "oom_kill x\n")],
)
def test_a_kernel_that_does_not_tell_gives_no_number(tmp_path, cgroup, events):
    assert laid(tmp_path, cgroup, events) is None
