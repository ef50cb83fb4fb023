"""NPU facts: what npu-smi says of this host. That there is none, or that it hangs, is a fact too."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.host.npu_chip import NpuChip, NpuProcess
from autotune.host.npu_map import ChipNumbers, NpuAffinity, read_affinity, read_map
from autotune.host.npu_table import read_table
from autotune.host.short_command import Answer, Ask, NoAnswer, ask
from autotune.host.topology import Topology
from autotune.model.service import Fact

SECONDS = 15.0
"""Longest wait for one answer."""
_NO_DRIVER = "-8005"


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuFacts:
    """What is known of the NPUs; `problem` says why when nothing is."""

    version: str = ""
    chips: tuple[NpuChip, ...] = ()
    processes: tuple[NpuProcess, ...] = ()
    affinity: tuple[NpuAffinity, ...] = ()
    problem: str = ""


def read_npus(run: Ask = ask, *, seconds: float = SECONDS, near_cpus: bool = True) -> NpuFacts:
    """Ask npu-smi; never raises. Without `near_cpus` only the table is read, which is quicker."""
    answer = run(["npu-smi", "info"], seconds)
    table = read_table(answer.output)
    if not table.chips:
        return NpuFacts(version=table.version, problem=_problem(answer, seconds))
    facts = NpuFacts(version=table.version, chips=table.chips, processes=table.processes)
    if not near_cpus:
        return facts
    numbers = read_map(run(["npu-smi", "info", "-m"], seconds).output)
    affinity = read_affinity(run(["npu-smi", "info", "-t", "topo"], seconds).output)
    return replace(facts, chips=tuple(_numbered(chip, numbers) for chip in facts.chips), affinity=affinity)


def npu_nodes(facts: NpuFacts, topology: Topology, root: Path = Path("/")) -> frozenset[int]:
    """The NUMA nodes that have an NPU: by npu-smi's CPU affinity, else by the PCI devices' own node."""
    near = {cpu for affinity in facts.affinity for cpu in affinity.cpus}
    if near:
        return frozenset(node.number for node in topology.nodes if near & set(node.cpus))
    found = (_pci_node(chip.bus_id, root) for chip in facts.chips if chip.bus_id)
    return frozenset(node for node in found if node is not None and node >= 0)


def npu_report(facts: NpuFacts) -> tuple[Fact, ...]:
    """The facts for a report, one line for chips that are alike."""
    if not facts.chips:
        return (Fact(name="npu", value=facts.problem or "none"),)
    kinds: dict[str, int] = {}
    for chip in facts.chips:
        memory = f" {chip.memory_total} MiB {chip.memory_kind}" if chip.memory_total else ""
        kinds[f"{chip.name}{memory}"] = kinds.get(f"{chip.name}{memory}", 0) + 1
    unwell = [
        f"NPU {chip.npu_id} chip {chip.chip_id} is {chip.health}" for chip in facts.chips if _unwell(chip)
    ]
    return (
        Fact(name="npu", value=", ".join(f"{count} x {kind}" for kind, count in kinds.items())),
        Fact(name="npu-smi", value=facts.version or "unknown"),
        Fact(name="npu health", value="; ".join(unwell) or "OK"),
        Fact(name="npu memory in use (MiB)", value=_in_use(facts.chips)),
        Fact(name="npu processes", value=holders(facts.processes) or "none"),
    )


def holders(processes: Iterable[NpuProcess]) -> str:
    """Who holds the cards, as one text."""
    texts = (
        f"NPU {each.npu_id} chip {each.chip_id}: pid {each.pid} {each.name or '(no name)'} {each.memory} MiB"
        for each in processes
    )
    return "; ".join(texts)


def _numbered(chip: NpuChip, numbers: tuple[ChipNumbers, ...]) -> NpuChip:
    """With the logic id, which is what npuDeviceIds wants; Ascend 950 has the NPU id for it."""
    for each in numbers:
        if (each.npu_id, each.chip_id) == (chip.npu_id, chip.chip_id):
            phy_id = chip.phy_id if chip.phy_id is not None else each.phy_id
            logic_id = each.logic_id if each.logic_id is not None else chip.logic_id
            return replace(chip, logic_id=logic_id, phy_id=phy_id)
    return chip


def _problem(answer: Answer, seconds: float) -> str:
    if answer.no_answer is not None:
        limit = f" ({seconds:g} s)" if answer.no_answer is NoAnswer.TIMEOUT else ""
        return f"npu-smi {answer.no_answer.value}{limit}"
    said = f"{answer.output}\n{answer.errors}"
    if _NO_DRIVER in said:
        return "npu-smi finds no driver (-8005): no right to the devices, or another container holds them"
    lines = [line.strip() for line in said.splitlines() if line.strip(" +-=|")]
    first = lines[0] if lines else f"nothing, exit code {answer.code}"
    return f"npu-smi lists no chip; it says: {first}"


def _pci_node(bus_id: str, root: Path) -> int | None:
    try:
        return int((root / "sys/bus/pci/devices" / bus_id.lower() / "numa_node").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _unwell(chip: NpuChip) -> bool:
    return chip.health.upper() not in {"OK", ""}


def _in_use(chips: tuple[NpuChip, ...]) -> str:
    return ", ".join(f"{chip.npu_id}/{chip.chip_id}: {chip.memory_used}" for chip in chips)
