"""Daemon CPUs: which CPUs the serving daemon is started on, and which are left for the load client.

The vendor's guide says `odd cores` and means the NUMA nodes that no NPU is attached to: nodes 1, 3, 5
and 7 of eight. Where the NPUs' own nodes are known they decide; else odd numbers do.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from autotune.errors import Refused
from autotune.host.cpu_list import format_cpu_list, parse_cpu_list
from autotune.host.topology import NumaNode, Topology

ODD_NUMA_NODE = "odd-numa-node"
_NODE = re.compile(r"node(\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuChoice:
    """The CPUs for the daemon; none means that it is not bound."""

    cpus: tuple[int, ...]
    node: int | None = None
    reason: str
    warning: str = ""

    @property
    def text(self) -> str:
        """The list as taskset takes it."""
        return format_cpu_list(self.cpus)


def choose_cpus(
    wish: str | None,
    topology: Topology,
    allowed: Collection[int],
    *,
    npu_nodes: Collection[int] = (),
    busy: Mapping[int, float] | None = None,
) -> CpuChoice:
    """The CPUs for `odd-numa-node`, `node3`, a list like `24-47`, or None (leave alone).

    `npu_nodes` are the nodes with an NPU, where known. Raises Refused when a node or list that was
    asked for has no CPU that this process may use.
    """
    if wish is None:
        return CpuChoice(cpus=(), reason="left alone")
    if wish == ODD_NUMA_NODE:
        return _odd_node(topology, frozenset(allowed), frozenset(npu_nodes), busy or {})
    match = _NODE.fullmatch(wish)
    if match is None:
        return _usable(parse_cpu_list(wish), frozenset(allowed), f"CPUs {wish}, as asked for")
    node = topology.node(int(match[1]))
    known = ", ".join(str(each) for each in topology.nodes)
    if node is None:
        raise Refused(f"there is no NUMA {wish}", hint=f"this host has {known or 'no nodes'}")
    choice = _usable(node.cpus, frozenset(allowed), f"{wish}, as asked for")
    return CpuChoice(cpus=choice.cpus, node=node.number, reason=choice.reason, warning=choice.warning)


def client_cpus(choice: CpuChoice, allowed: Collection[int]) -> tuple[int, ...]:
    """The CPUs for the load client: all that the daemon does not get; none means no binding."""
    return tuple(sorted(frozenset(allowed) - frozenset(choice.cpus))) if choice.cpus else ()


def _odd_node(
    topology: Topology, allowed: frozenset[int], npu_nodes: frozenset[int], busy: Mapping[int, float]
) -> CpuChoice:
    usable = [node for node in topology.nodes if allowed & set(node.cpus)]
    free = [node for node in usable if node.number not in npu_nodes] if npu_nodes else []
    odd = [node for node in usable if node.number % 2]
    candidates = free or odd
    if not candidates and any(node.cpus for node in topology.nodes if node not in usable):
        return CpuChoice(cpus=(), reason="no CPU of a suitable NUMA node may be used here; not bound")
    if not candidates:
        return CpuChoice(cpus=(), reason="no NUMA node is free of NPUs or odd; not bound")
    best = max(candidates, key=lambda node: (_free_cpus(node, allowed, busy), -node.number))
    why = "no NPU on it" if free else "an odd node"
    choice = _usable(best.cpus, allowed, f"NUMA node{best.number}: {why}")
    return CpuChoice(cpus=choice.cpus, node=best.number, reason=choice.reason, warning=choice.warning)


def _free_cpus(node: NumaNode, allowed: frozenset[int], busy: Mapping[int, float]) -> int:
    """Whole CPUs' worth of idle time on the CPUs that may be used."""
    return round(sum(1 - busy.get(cpu, 0.0) for cpu in node.cpus if cpu in allowed))


def _usable(wanted: Collection[int], allowed: frozenset[int], reason: str) -> CpuChoice:
    """Only what may be used: the kernel would drop the rest without a word."""
    cpus = tuple(sorted(set(wanted) & allowed))
    if not cpus:
        raise Refused(
            f"none of the CPUs {format_cpu_list(wanted) or '(none)'} may be used here",
            hint=f"allowed are {format_cpu_list(allowed)}: grep Cpus_allowed_list /proc/self/status",
        )
    missing = sorted(set(wanted) - allowed)
    warning = f"CPUs {format_cpu_list(missing)} may not be used here and are left out" if missing else ""
    return CpuChoice(cpus=cpus, reason=reason, warning=warning)
