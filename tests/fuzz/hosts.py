"""Hosts: npu-smi in all its forms, and lscpu."""

import contextlib
import json

from autotune.host.cpu_list import LARGEST_CPU, format_cpu_list, parse_cpu_list, parse_cpu_mask
from autotune.host.lscpu import read_lscpu
from autotune.host.npu_map import read_affinity, read_map
from autotune.host.npu_records import read_ids, read_records
from autotune.host.npu_table import read_table
from autotune.host.short_command import Answer
from autotune.host.torch_npu_probe import read_probe
from tests.fuzz.target import Target, golden, printed, words_of

WORDS = words_of("hosts")
PROBED = b'a library speaks\nautotune-probe {"version": "2.1", "count": 1, "cards": [[0, 4, 8, "910B"]]}\n'


def read_npu_smi(data: bytes) -> None:
    """Whatever npu-smi prints is read or left out; memory in use is never negative."""
    text = printed(data)
    table = read_table(text)
    for chip in table.chips:
        assert chip.npu_id >= 0
    for record in read_records(text):
        assert record.memory_total is None or record.memory_total >= 0
    read_ids(text)
    read_map(text)
    for near in read_affinity(text):
        assert all(0 <= cpu <= LARGEST_CPU for cpu in near.cpus)
    read_probe(Answer(output=text, code=0), 1.0)


def read_cpus(data: bytes) -> None:
    """Nodes in order, CPUs within the kernel's limit; a list that is written again reads the same."""
    text = printed(data)
    found = read_lscpu(text)
    numbers = [node.number for node in found.nodes]
    assert numbers == sorted(set(numbers))
    for node in found.nodes:
        assert node.cpus is None or node.cpus == tuple(sorted(set(node.cpus)))
    with contextlib.suppress(ValueError):
        cpus = parse_cpu_list(text)
        assert all(0 <= cpu <= LARGEST_CPU for cpu in cpus)
        assert parse_cpu_list(format_cpu_list(cpus)) == cpus
    with contextlib.suppress(ValueError):
        assert all(0 <= cpu <= LARGEST_CPU for cpu in parse_cpu_mask(text))


def _lscpu_seeds() -> tuple[bytes, ...]:
    rows = [{"cpu": 0, "node": 0}, {"cpu": 1, "node": 1}]
    nested = {
        "lscpu": [
            {"field": "NUMA:", "data": None, "children": [{"field": "NUMA node1 CPU(s):", "data": "1"}]}
        ]
    }
    return (
        *golden("lscpu", "*.txt"),
        json.dumps({"cpus": rows}).encode(),
        json.dumps(nested).encode(),
        b"CPU NODE SOCKET ONLINE\n0 0 0 yes\n1 1 0 no\n",
        b"# CPU,Node\n0,0\n1,1\n",
    )


NPU_SMI = Target(
    name="npu-smi",
    law="read or left out; no number below 0",
    check=read_npu_smi,
    seeds=lambda: (*golden("npu_smi", "*.txt"), PROBED),
    words=WORDS,
)
LSCPU = Target(
    name="lscpu and CPU lists",
    law="CPUs within the kernel's limit; a list written again reads the same",
    check=read_cpus,
    seeds=_lscpu_seeds,
    words=WORDS,
)
