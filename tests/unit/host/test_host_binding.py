"""A daemon stays on the CPUs that it was given, and so do its later children; what does not is named."""

import os
import subprocess
import sys
import time

import pytest

from autotune.host.binding import check_binding, rebinding_switches
from autotune.host.npu_facts import NpuFacts
from autotune.host.npu_map import NpuAffinity
from autotune.host.placement import place
from autotune.host.short_command import Answer, NoAnswer
from autotune.host.topology import allowed_cpus, read_topology

MINE = sorted(os.sched_getaffinity(0))
PARENT = """
import subprocess, sys, threading, time
time.sleep(0.1)
threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
print(child.pid, flush=True)
time.sleep(30)
"""


@pytest.fixture
def bound_pair():
    """A process on the last CPU that this one may use, and a child that it starts later."""
    os.sched_setaffinity(0, MINE[-1:])
    try:
        parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    finally:
        os.sched_setaffinity(0, MINE)
    with parent:
        child = int(parent.stdout.readline())
        yield parent.pid, child
        os.kill(child, 9)
        parent.kill()


def test_daemon_and_later_children_are_on_exactly_the_given_cpus(bound_pair):
    check = check_binding(bound_pair, MINE[-1:])
    assert (check.holds, check.bound, check.wanted) == (True, 2, str(MINE[-1]))
    for pid in bound_pair:
        assert allowed_cpus(pid=str(pid)) == {MINE[-1]}


@pytest.mark.skipif(len(MINE) < 2, reason="needs two CPUs")
def test_a_process_that_binds_itself_is_named(bound_pair):
    os.sched_setaffinity(bound_pair[1], MINE[:1])
    time.sleep(0.01)
    check = check_binding(bound_pair, MINE[-1:])
    assert not check.holds
    assert [(each.pid, each.cpus) for each in check.rebound] == [(bound_pair[1], str(MINE[0]))]
    assert check.rebound[0].name.startswith("python")


def test_a_process_that_has_ended_is_left_out():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert check_binding([ended.pid], MINE).bound == 0


def test_a_single_rebound_thread_is_seen(host):
    host.allow("24-47", pid="7").allow("24-47", pid="7/task/7").allow("0-3", pid="7/task/8")
    host.write("proc/7/comm", "mindie_llm_back\n")
    check = check_binding([7], range(24, 48), root=host.root)
    assert [(each.name, each.cpus) for each in check.rebound] == [("mindie_llm_back", "0-3,24-47")]


def test_what_rebinds_itself_is_told():
    facts = rebinding_switches({"CPU_AFFINITY_CONF": "1"})
    assert [fact.name for fact in facts] == ["BIND_CPU", "CPU_AFFINITY_CONF"]
    assert facts[0].value.startswith("not set (model workers bind themselves")


def test_daemon_and_client_are_placed_beside_the_npus(host):
    host.nodes({node: range(node * 24, node * 24 + 24) for node in range(8)}).allow("0-191")
    near = tuple(NpuAffinity(npu=npu, cpus=tuple(range(npu * 48, npu * 48 + 24))) for npu in range(4))
    topology = read_topology(host.root, run=lambda _argv, _seconds: Answer(no_answer=NoAnswer.MISSING))
    placed = place("odd-numa-node", topology, NpuFacts(affinity=near), sleep=lambda _s: None, root=host.root)
    assert (placed.daemon.node, placed.daemon.text) == (1, "24-47")
    assert placed.daemon.reason == "NUMA node1: no NPU on it"
    assert len(placed.client) == 168


def test_on_this_machine_placing_never_fails():
    placed = place("odd-numa-node", read_topology(), NpuFacts(), sleep=lambda _s: None)
    assert set(placed.daemon.cpus) <= set(MINE)
