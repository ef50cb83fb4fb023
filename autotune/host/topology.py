"""Topology: the NUMA nodes of the host with their CPUs, from sysfs or else from lscpu."""

import re
from dataclasses import dataclass
from pathlib import Path

from autotune.host.cpu_list import format_cpu_list, parse_cpu_list
from autotune.host.lscpu import read_lscpu
from autotune.host.short_command import Ask, ask

_NODE = re.compile(r"node(\d+)")
_LSCPU_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class NumaNode:
    """One NUMA node; without CPUs it has only memory."""

    number: int
    cpus: tuple[int, ...]

    def __str__(self) -> str:
        return f"node{self.number} {format_cpu_list(self.cpus) or '(no CPUs)'}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Topology:
    """All nodes, and where they were read."""

    nodes: tuple[NumaNode, ...]
    source: str
    """sysfs, lscpu or none."""
    faults: tuple[str, ...] = ()
    """What could not be read."""

    @property
    def cpus(self) -> frozenset[int]:
        """All CPUs of all nodes."""
        return frozenset(cpu for node in self.nodes for cpu in node.cpus)

    def node(self, number: int) -> NumaNode | None:
        """The node with this number, if there is one."""
        return next((node for node in self.nodes if node.number == number), None)


def read_topology(root: Path = Path("/"), *, run: Ask = ask) -> Topology:
    """Nodes of the host below `root`. A host without NUMA is one node 0 with all online CPUs."""
    found = _from_sysfs(root)
    if found.nodes:
        return found
    answer = run(["lscpu"], _LSCPU_SECONDS)
    listed = read_lscpu(answer.output) if answer.ok else None
    if listed is not None and any(node.cpus for node in listed.nodes):
        return Topology(
            nodes=tuple(NumaNode(number=node.number, cpus=node.cpus or ()) for node in listed.nodes),
            source="lscpu",
            faults=found.faults
            + tuple(f"lscpu's list of node{number} can't be read" for number in listed.bad),
        )
    return _without_numa(root, found.faults)


def allowed_cpus(root: Path = Path("/"), *, pid: str = "self") -> frozenset[int] | None:
    """The CPUs that a process may use (cpuset and affinity); None when the kernel does not tell."""
    try:
        status = (root / "proc" / pid / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("Cpus_allowed_list:"):
            return frozenset(parse_cpu_list(line.partition(":")[2]))
    return None


def _from_sysfs(root: Path) -> Topology:
    nodes: list[NumaNode] = []
    faults: list[str] = []
    folder = root / "sys/devices/system/node"
    for place in sorted(folder.glob("node*")):
        match = _NODE.fullmatch(place.name)
        if match is None:
            continue
        try:
            cpus = parse_cpu_list((place / "cpulist").read_text(encoding="ascii"))
        except (OSError, ValueError) as error:
            faults.append(f"{place / 'cpulist'}: {error}")
            continue
        nodes.append(NumaNode(number=int(match[1]), cpus=cpus))
    ordered = tuple(sorted(nodes, key=lambda node: node.number))
    return Topology(nodes=ordered, source="sysfs", faults=tuple(faults))


def _without_numa(root: Path, faults: tuple[str, ...]) -> Topology:
    try:
        online = parse_cpu_list((root / "sys/devices/system/cpu/online").read_text(encoding="ascii"))
    except (OSError, ValueError):
        online = tuple(sorted(allowed_cpus(root) or ()))
    nodes = (NumaNode(number=0, cpus=online),) if online else ()
    return Topology(nodes=nodes, source="none", faults=faults)
