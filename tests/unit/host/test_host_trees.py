"""Hosts of every shape: each original value comes back, also after kill -9 in the middle of either way.

Kunpeng 920: 4 sockets x 48 CPUs, 8 nodes of 24. A3 (Kunpeng 920 7286Z): 640 CPUs, 8 nodes of 80. x86: lscpu
of a two-socket E5-2696 v4, CPU numbers in turns. Four nodes of which one has memory only: CXL or HBM.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.host.daemon_cpus import choose_cpus
from autotune.host.host_settings import HostWish, applied, restore
from autotune.host.short_command import Answer, NoAnswer
from autotune.host.topology import read_topology
from autotune.store.journal import FileJournal, unfinished

BOOT = "boot-1"
SHAPES = {
    "Kunpeng 920": {n: range(24 * n, 24 * n + 24) for n in range(8)},
    "A3": {n: range(80 * n, 80 * n + 80) for n in range(8)},
    "x86 in turns": {0: range(0, 88, 2), 1: range(1, 88, 2)},
    "one node of memory only": {0: range(32), 1: range(32, 64), 2: range(0), 3: range(64, 96)},
}
ODD = {
    "Kunpeng 920": "24-47",
    "A3": "80-159",
    "x86 in turns": ",".join(map(str, range(1, 88, 2))),
    "one node of memory only": "32-63",
}


@pytest.fixture(params=SHAPES)
def shape(request):
    return request.param


@pytest.fixture
def tree(host, shape):
    """A host of this shape, its governors mixed, huge pages at madvise."""
    nodes = SHAPES[shape]
    cpus = sorted(cpu for node in nodes.values() for cpu in node)
    host.nodes(nodes).huge_pages().allow(f"0-{cpus[-1]}")
    return host.governors({cpu: ("powersave", "performance", "ondemand")[cpu % 3] for cpu in cpus})


def values(tree):
    """All governors, and the huge-page word; a file of a tree shows no brackets once it was written."""
    pages = tree.read("sys/kernel/mm/transparent_hugepage/enabled").split()
    return tree.governor_values(), next((word[1:-1] for word in pages if word[0] == "["), pages[0])


def missing(_argv, _seconds):
    return Answer(no_answer=NoAnswer.MISSING)


def test_every_value_is_set_and_comes_back(tree, journal):
    before = values(tree)
    with applied(HostWish(), journal, boot_id=BOOT, root=tree.root):
        governors, pages = values(tree)
        assert (set(governors.values()), pages) == ({"performance"}, "always")
    assert values(tree) == before
    assert journal.open == []


def test_the_odd_node_has_the_cpus_that_lscpu_tells(tree, shape):
    topology = read_topology(tree.root, run=missing)
    choice = choose_cpus("odd-numa-node", topology, topology.cpus)
    assert (choice.node, choice.text) == (1, ODD[shape])


KILLED = """
import os, signal, sys
from pathlib import Path
from autotune.host import host_settings
from autotune.store.journal import FileJournal, Unfinished, unfinished

root, place, limits = Path(sys.argv[1]), Path(sys.argv[2]), [int(word) for word in sys.argv[3:]]
real, count = host_settings.write_value, 0
def write(path, value):
    global count
    count += 1
    if count > limits[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(path, value)
host_settings.write_value = write
journal = FileJournal(place, Unfinished(run="r", pid=os.getpid(), boot_id="boot-1", started_wall=0.0))
if not journal.changes:
    host_settings.apply(host_settings.HostWish(), journal, boot_id="boot-1", root=root)
host_settings.restore(journal.changes, journal, boot_id="boot-1")
"""


def run_killed(tree, place, limit):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tree.root), str(place), str(limit)],
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.returncode == -signal.SIGKILL


def test_killed_while_applying_and_again_while_restoring_every_value_comes_back(tree, tmp_path, shape):
    before = values(tree)
    place = tmp_path / "journal.json"
    writes = sum(value != "performance" for value in before[0].values()) + 1
    run_killed(tree, place, writes // 2)
    halfway = values(tree)
    assert halfway != before
    run_killed(tree, place, writes // 4)
    assert values(tree) not in (before, halfway)
    left = unfinished(place)
    journal = FileJournal(place, left)
    restore(left.changes, journal, boot_id=BOOT)
    assert values(tree) == before
    assert not place.exists()
