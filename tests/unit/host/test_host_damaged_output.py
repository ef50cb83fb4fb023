"""Damaged output of lscpu and npu-smi is read in part or left out; each case was found by fuzzing."""

import pytest

from autotune.host.lscpu import read_lscpu
from autotune.host.npu_map import read_affinity
from autotune.host.npu_records import read_records
from autotune.host.npu_table import read_table


def test_a_cpu_that_stands_in_two_rows_is_one_cpu():
    assert read_lscpu("# CPU,Node\n0,0\n0,0\n1,1\n").nodes[0].cpus == (0,)


@pytest.mark.parametrize(
    "text",
    [
        f"NUMA node{'9' * 5000} CPU(s): 0",
        f"# CPU,Node\n{'9' * 5000},0\n",
        f"# CPU,Node\n0,{'9' * 5000}\n",
        f"NUMA: {'9' * 5000}",
        "[" * 100_000,
        '{"lscpu":' * 10_000,
    ],
)
def test_absurd_numbers_and_depths_of_lscpu_give_no_cpu_that_no_host_has(text):
    for node in read_lscpu(text).nodes:
        assert all(cpu <= 8191 for cpu in node.cpus or ())


def test_an_affinity_beyond_every_host_is_left_out():
    assert read_affinity("CPU Affinity\nNPU0  X  0-99999\nNPU1  X  0-3\n")[0].npu == 1


@pytest.mark.parametrize("number", ["9" * 5000, "²"])
def test_absurd_numbers_of_npu_smi_are_unknown(number):
    read_table(f"| {number}  910B1 | OK | 1 2 3 |\n| 0 | 0000:C1:00.0 | 0 {number} / {number} |\n")
    read_records(f"NPU ID : {number}\nProcess id: {number} Process name: x Process memory(MB): {number}\n")
