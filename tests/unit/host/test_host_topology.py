"""NUMA nodes from sysfs, lscpu or neither; and which CPUs daemon and client get on known machines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import Refused
from autotune.host.cpu_load import cpu_busy
from autotune.host.daemon_cpus import ODD_NUMA_NODE, choose_cpus, client_cpus
from autotune.host.short_command import Answer, NoAnswer
from autotune.host.topology import NumaNode, Topology, allowed_cpus, read_topology

KUNPENG_920 = {node: range(node * 24, node * 24 + 24) for node in range(8)}
A3 = {node: range(node * 80, node * 80 + 80) for node in range(8)}
X86 = {0: range(0, 88, 2), 1: range(1, 88, 2)}
MEMORY_ONLY = {0: range(32), 1: range(32, 64), 2: range(64, 96), 3: ()}


def missing(_argv, _seconds):
    return Answer(no_answer=NoAnswer.MISSING)


def topology(lists):
    return Topology(
        nodes=tuple(NumaNode(number=number, cpus=tuple(cpus)) for number, cpus in lists.items()),
        source="sysfs",
    )


@pytest.mark.parametrize("lists", [KUNPENG_920, A3, X86, MEMORY_ONLY])
def test_sysfs_gives_every_node(host, lists):
    found = read_topology(host.nodes(lists).root, run=missing)
    assert found.source == "sysfs"
    assert {node.number: node.cpus for node in found.nodes} == {n: tuple(cpus) for n, cpus in lists.items()}


def test_lscpu_stands_in_for_sysfs(host):
    def lscpu(argv, _seconds):
        assert list(argv) == ["lscpu"]
        return Answer(
            code=0, output="NUMA node0 CPU(s): 0-3\nNUMA node1 CPU(s): 4-7\nNUMA node2 CPU(s): 1-2-3\n"
        )

    found = read_topology(host.root, run=lscpu)
    assert (found.source, found.node(1).cpus, found.node(2).cpus) == ("lscpu", (4, 5, 6, 7), ())
    assert found.faults == ("lscpu's list of node2 can't be read",)


def test_a_host_without_numa_is_one_node(host):
    host.write("sys/devices/system/cpu/online", "0-3\n")
    found = read_topology(host.root, run=missing)
    assert (found.source, found.nodes[0].cpus) == ("none", (0, 1, 2, 3))


def test_nothing_at_all_is_no_node(host):
    assert read_topology(host.root, run=missing).nodes == ()
    assert allowed_cpus(host.root) is None


def test_a_broken_list_is_a_fault_and_the_other_nodes_are_read(host):
    host.nodes({0: range(4)}).write("sys/devices/system/node/node1/cpulist", "0-23-99\n")
    found = read_topology(host.root, run=missing)
    assert [node.number for node in found.nodes] == [0]
    assert "node1/cpulist" in found.faults[0]


def test_this_machine_is_read_as_it_is():
    found = read_topology()
    assert allowed_cpus() <= found.cpus


@pytest.mark.parametrize(
    ("lists", "npu_nodes", "node"),
    [
        (KUNPENG_920, {0, 2, 4, 6}, 1),
        (KUNPENG_920, {1, 3, 5, 7}, 0),
        (KUNPENG_920, (), 1),
        (KUNPENG_920, range(8), 1),
        (A3, (), 1),
        (X86, (), 1),
        (MEMORY_ONLY, (), 1),
        (MEMORY_ONLY, {0, 1}, 2),
    ],
)
def test_odd_means_a_node_without_npu_and_else_an_odd_number(lists, npu_nodes, node):
    choice = choose_cpus(ODD_NUMA_NODE, topology(lists), topology(lists).cpus, npu_nodes=npu_nodes)
    assert (choice.node, choice.cpus) == (node, tuple(lists[node]))
    assert choice.warning == ""


def test_the_freest_of_the_odd_nodes_is_taken():
    busy = dict.fromkeys(KUNPENG_920[1], 0.9) | dict.fromkeys(KUNPENG_920[3], 0.5)
    choice = choose_cpus(ODD_NUMA_NODE, topology(KUNPENG_920), range(192), busy=busy)
    assert choice.node == 5


def test_the_larger_node_is_taken_when_both_are_idle():
    lists = {0: range(8), 1: range(8, 12), 2: range(12, 20), 3: range(20, 28)}
    assert choose_cpus(ODD_NUMA_NODE, topology(lists), range(28)).node == 3


def test_a_cpuset_decides_which_odd_node_can_be_taken():
    choice = choose_cpus(ODD_NUMA_NODE, topology(KUNPENG_920), range(72, 84))
    assert (choice.node, choice.text) == (3, "72-83")
    assert choice.warning == "CPUs 84-95 may not be used here and are left out"


@pytest.mark.parametrize(
    ("lists", "allowed"),
    [({0: range(4)}, range(4)), ({0: range(72), 2: (), 3: ()}, range(72)), (X86, X86[0]), ({}, ())],
)
def test_without_a_usable_odd_node_the_daemon_is_not_bound_and_that_is_said(lists, allowed):
    choice = choose_cpus(ODD_NUMA_NODE, topology(lists), allowed)
    assert choice.cpus == ()
    assert "not bound" in choice.reason
    assert client_cpus(choice, allowed) == ()


def test_a_list_that_is_partly_usable_is_used_with_a_warning():
    # taskset and the kernel drop CPU 7 of a two-CPU host without a word
    choice = choose_cpus("0,7", topology({0: range(2)}), range(2))
    assert choice.cpus == (0,)
    assert "CPUs 7" in choice.warning


@pytest.mark.parametrize("wish", ["24-47", "node1"])
def test_a_wish_without_any_usable_cpu_is_refused(wish):
    with pytest.raises(Refused, match="none of the CPUs 24-47 may be used") as caught:
        choose_cpus(wish, topology(KUNPENG_920), range(24))
    assert "allowed are 0-23" in caught.value.hint


def test_a_node_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(Refused, match="no NUMA node9") as caught:
        choose_cpus("node9", topology(X86), range(88))
    assert "node1" in caught.value.hint


def test_none_leaves_the_cpus_alone():
    assert choose_cpus(None, topology(X86), range(88)).cpus == ()


@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=8),
    allowed=st.sets(st.integers(0, 95)),
    npu_nodes=st.sets(st.integers(0, 7)),
)
def test_daemon_and_client_never_share_a_cpu_and_stay_inside_the_allowed(sizes, allowed, npu_nodes):
    lists = {number: range(number * 12, number * 12 + size) for number, size in enumerate(sizes)}
    choice = choose_cpus(ODD_NUMA_NODE, topology(lists), allowed, npu_nodes=npu_nodes)
    client = client_cpus(choice, allowed)
    assert not set(choice.cpus) & set(client)
    assert set(choice.cpus) | set(client) <= allowed


def test_busy_cpus_are_told_from_idle_ones(host):
    first = "cpu 9 9 9 9\ncpu0 100 0 0 100 0 0 0 0\ncpu1 100 0 0 100 0 0 0 0\nintr 5\n"
    second = "cpu 9 9 9 9\ncpu0 150 0 0 150 0 0 0 0\ncpu1 200 0 0 100 0 0 0 0\ncpu2 1 0 0 1 0 0 0 0\n"
    host.write("proc/stat", first)
    assert cpu_busy(host.root, lambda _seconds: host.write("proc/stat", second)) == {0: 0.5, 1: 1.0}
    assert cpu_busy(host.root / "nowhere", lambda _seconds: None) == {}
