"""Lscpu in all its forms: real outputs with their known values, other options, other languages."""

import json
from pathlib import Path

import pytest

from autotune.host.lscpu import read_lscpu

GOLDEN = Path(__file__).parents[2] / "golden" / "lscpu"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_real_outputs_give_their_known_nodes(name):
    expected = EXPECTED[name]
    found = read_lscpu((GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))
    assert found.declared == expected["declared_nodes"]
    assert {str(node.number) for node in found.nodes} == set(expected["nodes"])
    for node in found.nodes:
        values = expected["nodes"][str(node.number)]
        assert node.text == values["text"]
        assert (None if node.cpus is None else len(node.cpus)) == values["count"]
        if node.cpus:
            assert (node.cpus[0], node.cpus[-1]) == (values["first"], values["last"])
    assert list(found.odd_nodes_with_cpus) == expected["odd_nodes_with_cpus"]
    assert list(found.bad) == expected["bad"]


PLAIN_JSON = """{"lscpu": [
  {"field": "Architecture:", "data": "aarch64"},
  {"field": "NUMA node(s):", "data": "2"},
  {"field": "NUMA node0 CPU(s):", "data": "0-1"},
  {"field": "NUMA node1 CPU(s):", "data": "2,3"}
]}"""
NESTED_JSON = """{"lscpu": [{"field": "NUMA:", "data": null, "children": [
  {"field": "NUMA node(s):", "data": "2"},
  {"field": "NUMA node0 CPU(s):", "data": "0-1"},
  {"field": "NUMA node1 CPU(s):", "data": "2-3"}]}]}"""
PARSABLE = """# The following is the parsable format
# CPU,Core,Socket,Node,,L1d,L1i,L2,L3
0,0,0,0,,0,0,0,0
1,1,0,0,,1,1,1,0
2,2,1,1,,2,2,2,1
3,3,1,1,,3,3,3,1
"""
CHOSEN = "# CPU,NODE\n0,0\n1,0\n2,1\n3,1\n"
EXTENDED = """CPU NODE SOCKET CORE ONLINE
  0    0      0    0    yes
  1    0      0    1    yes
  2    1      1    2    yes
  3    1      1    3    yes
  4    -      -    -     no
"""
JSON_ROWS = '{"cpus": [{"cpu":0,"node":0},{"cpu":"1","node":"0"},{"cpu":2,"node":1},{"cpu":3,"node":1}]}'
HEX = "NUMA node(s): 2\nNUMA node0 CPU(s): 0x3\nNUMA node1 CPU(s): 0xc\n"
CHINESE = "NUMA 节点：         2\nNUMA 节点0 CPU：    0,1\nNUMA 节点1 CPU：    2,3\n"
GERMAN = "NUMA-Knoten:                     2\nNUMA-Knoten0 CPU(s):  0,1\nNUMA-Knoten1 CPU(s):  2,3\n"
FRENCH = "Nœud(s) NUMA :  2\nNœud NUMA 0 de processeur(s) : 0-1\nNœud NUMA 1 de processeur(s) : 2-3\n"
JAPANESE = "NUMA ノード数: 2\nNUMA ノード 0 CPU: 0,1\nNUMA ノード 1 CPU: 2,3\n"
PORTUGUESE = "Nó(s) de NUMA: 2\nCPU(s) de nó0 NUMA: 0,1\nCPU(s) de nó1 NUMA: 2,3\n"
RUSSIAN = "Узлов NUMA: 2\nУзел NUMA0 CPU(s): 0-1\nУзел NUMA1 CPU(s): 2-3\n"
WINDOWS = "NUMA node(s):2\r\nNUMA node0 CPU(s):0-1\r\nNUMA node1 CPU(s):2-3\r\n"
WRAPPED = "NUMA node(s): 2\nNUMA node0 CPU(s):  0,\n                    1\nNUMA node1 CPU(s):  2,3\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN_JSON,
        NESTED_JSON,
        PARSABLE,
        CHOSEN,
        EXTENDED,
        JSON_ROWS,
        HEX,
        CHINESE,
        GERMAN,
        FRENCH,
        JAPANESE,
        PORTUGUESE,
        RUSSIAN,
        WINDOWS,
        WRAPPED,
    ],
)
def test_the_same_two_nodes_are_read_from_every_form(text):
    found = read_lscpu(text)
    assert found.declared == 2 or text == HEX
    assert [(node.number, node.cpus) for node in found.nodes] == [(0, (0, 1)), (1, (2, 3))]


def test_more_than_ten_nodes_and_two_ranges_a_node_are_read():
    lines = [f"NUMA node{n} CPU(s): {n * 8}-{n * 8 + 7},{n * 8 + 96}-{n * 8 + 103}" for n in range(12)]
    found = read_lscpu("NUMA node(s): 12\n" + "\n".join(lines))
    assert (found.declared, len(found.nodes), found.nodes[11].cpus[-1]) == (12, 12, 191)


def test_a_host_without_numa_has_one_node_in_the_row_forms():
    assert read_lscpu("# CPU,NODE\n0,\n1,\n").nodes[0].cpus == (0, 1)


@pytest.mark.parametrize("text", ["", "command not found", "{broken", "[]", "CPU(s): 8"])
def test_other_text_has_no_nodes(text):
    assert read_lscpu(text).nodes == ()
