"""What the report says of where the service's processes ran, read back from the kernel."""

import pytest

from autotune.campaign.host.watch import HostWatch


@pytest.fixture
def host(tmp_path):
    class Host:
        root = tmp_path

        def process(self, pid, cpus, *, name="mindieservice_d", policy="default"):
            place = tmp_path / "proc" / str(pid)
            (place / "task" / str(pid)).mkdir(parents=True, exist_ok=True)
            (place / "task" / str(pid) / "status").write_text(f"Cpus_allowed_list:\t{cpus}\n")
            (place / "comm").write_text(f"{name}\n")
            (place / "numa_maps").write_text(f"7f00 {policy} anon=1\n")

    return Host()


def values(watch):
    return {fact.name: fact.value for fact in watch.facts()}


def test_a_daemon_and_its_later_children_on_their_cpus_are_told_with_their_number(host, clock):
    watch = HostWatch(clock, cpus=range(24, 48), root=host.root)
    host.process(7, "24-47")
    watch.see([7])
    host.process(8, "24-47")
    watch.see([7, 8])
    assert values(watch) == {"service bound": "all 2 processes on CPUs 24-47, read back"}


def test_workers_that_bind_themselves_are_named(host, clock):
    watch = HostWatch(clock, cpus=range(24, 48), root=host.root)
    host.process(7, "24-47")
    for pid in (8, 9):
        host.process(pid, "0-23", name="mindie_llm_back")
    watch.see([7, 8, 9])
    assert values(watch)["service bound"] == (
        "1 of 3 processes on CPUs 24-47; bound themselves elsewhere: 2 x mindie_llm_back on 0-23"
    )


def test_the_look_with_most_processes_is_kept_when_the_service_ends(host, clock):
    watch = HostWatch(clock, cpus=range(4), root=host.root)
    for pid in (7, 8, 9):
        host.process(pid, "0-3")
    watch.see([7, 8, 9])
    clock.sleep(60)
    watch.see([7])
    assert "all 3 processes" in values(watch)["service bound"]


def test_the_same_processes_are_not_read_again_at_once(host, clock):
    watch = HostWatch(clock, cpus=range(4), root=host.root)
    host.process(7, "0-3")
    watch.see([7])
    host.process(7, "4-7")
    watch.see([7])
    assert "all 1 processes" in values(watch)["service bound"]
    clock.sleep(11)
    watch.see([7])
    assert "bound themselves elsewhere" in values(watch)["service bound"]


def test_the_memory_policy_is_told_as_it_was_read_back(host, clock):
    watch = HostWatch(clock, policy="prefer:1", root=host.root)
    host.process(7, "0-3", policy="prefer:1")
    host.process(8, "0-3", policy="bind:0")
    watch.see([7, 8])
    assert values(watch) == {
        "service memory": "prefer:1 for 1 of 2 processes, read back; the others have bind:0"
    }


def test_nothing_is_told_of_a_service_that_was_left_alone(host, clock):
    watch = HostWatch(clock, root=host.root)
    host.process(7, "0-3")
    watch.see([7])
    assert watch.facts() == ()
