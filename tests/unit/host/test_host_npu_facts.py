"""No NPU, no npu-smi, one that hangs, a broken torch_npu: each is a fact and never a failure."""

import sys
import time
from pathlib import Path

import pytest

from autotune.host.facts import host_facts
from autotune.host.npu_chip import NpuChip, NpuProcess
from autotune.host.npu_facts import NpuFacts, npu_nodes, npu_report, read_npus
from autotune.host.npu_memory import baseline, wait_until_free
from autotune.host.short_command import Answer, NoAnswer, ask
from autotune.host.topology import NumaNode, Topology, read_topology
from autotune.host.torch_npu_probe import probe_torch_npu, read_probe, torch_npu_fact

GOLDEN = Path(__file__).parents[2] / "golden" / "npu_smi"
NODES = Topology(
    nodes=tuple(NumaNode(number=n, cpus=tuple(range(n * 24, n * 24 + 24))) for n in range(8)), source="sysfs"
)


def script(place, body):
    place.write_text(f"#!/bin/sh\n{body}\n")
    place.chmod(0o755)
    return place


def smi(answers):
    """An npu-smi that knows these subcommands."""

    def run(argv, _seconds):
        return answers.get(" ".join(argv[1:]), Answer(code=1, output="Error parameter of -t"))

    return run


def test_a_host_without_npu_smi_says_so():
    facts = read_npus(lambda _argv, _seconds: Answer(no_answer=NoAnswer.MISSING))
    assert facts.problem == "npu-smi is not installed"
    assert [(fact.name, fact.value) for fact in npu_report(facts)] == [("npu", "npu-smi is not installed")]


def test_an_npu_smi_that_hangs_is_given_up(tmp_path):
    hanging = script(tmp_path / "npu-smi", "sleep 60 & sleep 60")
    start = time.monotonic()
    facts = read_npus(lambda argv, seconds: ask([str(hanging), *argv[1:]], seconds), seconds=0.2)
    assert facts.problem == "npu-smi did not answer in time (0.2 s)"
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (
            Answer(
                code=1,
                output="DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n"
                "dcmi module initialize failed. ret is -8005",
            ),
            "finds no driver (-8005)",
        ),
        (
            Answer(code=127, errors="npu-smi: error while loading shared libraries: libc_sec.so"),
            "libc_sec.so",
        ),
        (Answer(code=0, output="+-----+\n|     |\n"), "it says: nothing, exit code 0"),
        (Answer(no_answer=NoAnswer.DENIED, errors="Permission denied"), "may not be run"),
    ],
)
def test_a_broken_npu_smi_is_a_fact_with_its_reason(answer, problem):
    assert problem in read_npus(lambda _argv, _seconds: answer).problem


def test_table_map_and_topology_are_joined():
    text = (GOLDEN / "n15_910B3_25.3.rc1_plus_info_m.txt").read_text()
    topo = "        NPU0  NPU1  CPU Affinity\nNPU0    X     HCCS  0-23\nNPU1    HCCS  X     48-71\n"
    facts = read_npus(
        smi(
            {
                "info": Answer(code=0, output=text),
                "info -m": Answer(code=0, output=text),
                "info -t topo": Answer(code=0, output=topo),
            }
        )
    )
    assert [(chip.npu_id, chip.logic_id) for chip in facts.chips] == [(0, 0), (1, 1)]
    assert npu_nodes(facts, NODES) == {0, 2}
    assert [(fact.name, fact.value) for fact in npu_report(facts)] == [
        ("npu", "2 x 910B3 65536 MiB HBM"),
        ("npu-smi", "25.3.rc1"),
        ("npu health", "OK"),
        ("npu memory in use (MiB)", "0/0: 41697, 1/0: 40844"),
        ("npu processes", "none"),
    ]


def test_where_npu_smi_knows_no_cpus_the_pci_devices_do(host):
    host.write("sys/bus/pci/devices/0000:c1:00.0/numa_node", "6\n")
    host.write("sys/bus/pci/devices/0000:c2:00.0/numa_node", "-1\n")
    chips = tuple(NpuChip(npu_id=n, chip_id=0, bus_id=f"0000:C{n + 1}:00.0") for n in range(3))
    assert npu_nodes(NpuFacts(chips=chips), NODES, host.root) == {6}


def test_everything_about_this_machine_can_be_told():
    facts = {fact.name: fact.value for fact in host_facts(read_topology(), read_npus(), environment={})}
    assert facts["NUMA nodes"].startswith("node")
    assert facts["kernel"]
    assert facts["LD_PRELOAD"] == "not set"


def test_an_empty_host_is_told_without_failing(host):
    def silent(_argv, _seconds):
        return Answer(no_answer=NoAnswer.MISSING)

    empty = Topology(nodes=(), source="none")
    facts = {f.name: f.value for f in host_facts(empty, NpuFacts(), root=host.root, run=silent)}
    assert (facts["governors"], facts["tuned"], facts["npu"]) == (
        "no CPU frequency driver",
        "not installed",
        "none",
    )


def test_a_known_host_is_told_in_full(host):
    host.governors({0: "performance", 1: "powersave", 2: "powersave"}).huge_pages().allow("0-2")
    host.write("proc/cpuinfo", "processor : 0\nCPU implementer : 0x48\nCPU part : 0xd01\n")
    said = {"systemctl": "inactive\n", "tuned-adm": "Current active profile: throughput-performance\n"}

    def run(argv, _seconds):
        return Answer(code=0, output=said[argv[0]])

    facts = {f.name: f.value for f in host_facts(NODES, NpuFacts(), root=host.root, run=run)}
    assert facts["governors"] == "2 x powersave, 1 x performance"
    assert facts["CPU"] == "implementer 0x48 part 0xd01"
    assert (facts["irqbalance"], facts["tuned"]) == ("inactive", "throughput-performance")
    assert (facts["huge pages"], facts["huge page size"]) == ("madvise", "2048 KiB")


class FakeClock:
    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def wall(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


def chips(used, processes=()):
    return NpuFacts(
        chips=tuple(NpuChip(npu_id=n, chip_id=0, memory_used=mib) for n, mib in enumerate(used)),
        processes=tuple(
            NpuProcess(npu_id=n, chip_id=0, pid=pid, name="python", memory=9) for n, pid in processes
        ),
    )


def test_the_wait_ends_when_every_chip_is_back_at_its_baseline():
    readings = iter([chips([60000, 60000]), chips([2900, 60000]), chips([3000, 2950])])
    ended = wait_until_free(baseline(chips([2900, 2900])), lambda: next(readings), FakeClock())
    assert (ended.free, ended.seconds) == (True, 2.0)


def test_a_chip_that_stays_full_is_named_with_who_holds_it():
    full = chips([2900, 60000], processes=[(0, 5), (1, 4711)])
    ended = wait_until_free(baseline(chips([2900, 2900])), lambda: full, FakeClock(), seconds=10)
    assert not ended.free
    assert [(each.npu_id, each.used) for each in ended.excess] == [(1, 57100)]
    assert [each.pid for each in ended.holders] == [4711]


def test_only_the_chips_of_the_service_are_waited_for():
    ended = wait_until_free(
        baseline(chips([2900, 2900]), {(0, 0)}), lambda: chips([2900, 60000]), FakeClock()
    )
    assert ended.free


def test_without_npu_smi_nothing_is_waited_for():
    ended = wait_until_free((), lambda: NpuFacts(problem="npu-smi is not installed"), FakeClock())
    assert (ended.free, ended.seconds, ended.unknown) == (True, 0.0, "npu-smi is not installed")


def fake_python(tmp_path, torch, torch_npu=None):
    """An interpreter that finds these modules first."""
    (tmp_path / "torch.py").write_text(torch)
    if torch_npu is not None:
        (tmp_path / "torch_npu.py").write_text(torch_npu)
    return str(script(tmp_path / "python", f'PYTHONPATH={tmp_path} exec {sys.executable} "$@"'))


WORKING = """
__version__ = "2.6.0"
class npu:
    device_count = staticmethod(lambda: 2)
    mem_get_info = staticmethod(lambda i: (60 * 2**30 + i, 64 * 2**30))
    get_device_name = staticmethod(lambda i: "Ascend910B1")
print("a library that talks")
"""


def test_a_working_torch_npu_gives_memory(tmp_path):
    found = probe_torch_npu(fake_python(tmp_path, "", WORKING))
    assert (found.version, found.problem) == ("2.6.0", "")
    assert [(card.index, card.free - 60 * 2**30, card.total) for card in found.cards] == [
        (0, 0, 64 * 2**30),
        (1, 1, 64 * 2**30),
    ]


@pytest.mark.parametrize(
    ("torch", "torch_npu", "problem"),
    [
        ("raise ModuleNotFoundError(\"No module named 'torch'\")", None, "not installed"),
        ("", "raise ModuleNotFoundError(\"No module named 'torch_npu'\")", "not installed"),
        ("", "raise ImportError('libhccl.so: cannot open shared object file')", "source its set_env.sh"),
        ("", "raise RuntimeError('Two accelerators cannot be used at the same time')", "CUDA build"),
        (
            "raise RuntimeError('Failed to load the backend extension: torch_npu.')",
            "",
            "Failed to load the backend",
        ),
        ("", "raise OSError('something else')", "OSError: something else"),
        ("", "import os; os.abort()", "the probe died"),
        ("", "import sys; sys.exit(3)", "SystemExit: 3"),
        ("", WORKING.replace("lambda: 2", "lambda: 0"), "sees no card"),
    ],
)
def test_every_way_in_which_torch_npu_fails_is_an_answer(tmp_path, torch, torch_npu, problem):
    found = probe_torch_npu(fake_python(tmp_path, torch, torch_npu))
    assert problem in found.problem
    assert found.cards == ()


NO_CONTEXT = WORKING.replace("lambda i: (60 * 2**30 + i, 64 * 2**30)", "lambda i: 1 / 0")


@pytest.mark.parametrize(
    ("torch", "torch_npu", "value"),
    [
        ("", NO_CONTEXT, "2.6.0, 2 cards"),
        ("", None, "not installed"),
        ("", "raise ImportError('libhccl.so: cannot open shared object file')", "source its set_env.sh"),
    ],
)
def test_the_torch_npu_of_the_services_python_is_a_fact_and_no_context_is_opened(
    tmp_path, torch, torch_npu, value
):
    python = fake_python(tmp_path, torch, torch_npu)
    fact = torch_npu_fact({"PATH": "/bin:/usr/bin"}, find=lambda _name, **_given: python)
    assert value in fact.value


def test_a_torch_npu_that_hangs_is_given_up(tmp_path):
    python = fake_python(tmp_path, "import time; time.sleep(60)", "")
    assert "did not answer in time" in probe_torch_npu(python, seconds=0.5).problem


def test_an_interpreter_that_is_not_there_is_an_answer():
    assert probe_torch_npu("/nowhere/python").problem == "the probe is not installed"
    assert read_probe(Answer(code=1), 5).problem == "the probe died: exit code 1"


def test_commands_run_in_the_c_locale_without_input():
    answer = ask(["sh", "-c", 'cat; echo "$LC_ALL"; echo oops >&2; exit 3'], 5)
    assert (answer.output, answer.errors, answer.code, answer.ok) == ("C\n", "oops\n", 3, False)


def test_a_command_that_may_not_be_run_is_told_from_one_that_is_missing(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("#!/nowhere\n")
    assert ask([str(plain)], 5).no_answer is NoAnswer.DENIED
    assert ask([str(tmp_path / "absent")], 5).no_answer is NoAnswer.MISSING


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "{",
        "7",
        "null",
        '"error"',
        "[" * 5000,
        '{"version": "2.1", "count": 1}',
        '{"version": "2.1", "count": 1, "cards": [[0, 1]]}',
        '{"version": "2.1", "count": 1e400, "cards": []}',
        '{"version": "2.1", "count": -1, "cards": []}',
        '{"version": "2.1", "count": 1, "cards": [[0, 8, 4, "910B"]]}',
    ],
)
def test_an_answer_of_the_probe_that_was_cut_or_is_no_answer_is_a_problem_and_no_crash(rest):
    found = read_probe(Answer(output=f"autotune-probe {rest}\n", code=0), 1.0)
    assert found.problem.startswith("the probe's answer cannot be read: autotune-probe")
    assert found.cards == ()


def test_an_error_without_words_is_told_as_one():
    found = read_probe(Answer(output='autotune-probe {"error": ""}\n', code=0), 1.0)
    assert found.problem == "an error without a word"
