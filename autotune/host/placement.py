"""Placement: topology, NPUs, permission and present load joined to the CPUs of daemon and client."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autotune.host.cpu_load import cpu_busy
from autotune.host.daemon_cpus import ODD_NUMA_NODE, CpuChoice, choose_cpus, client_cpus
from autotune.host.npu_facts import NpuFacts, npu_nodes
from autotune.host.topology import Topology, allowed_cpus


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """Where daemon and load client run; no CPUs means not bound."""

    daemon: CpuChoice
    client: tuple[int, ...]


def place(
    wish: str | None,
    topology: Topology,
    npus: NpuFacts,
    *,
    sleep: Callable[[float], None],
    root: Path = Path("/"),
) -> Placement:
    """Choose the CPUs for a profile's `host.cpus`. Raises Refused when what was asked for can't be used."""
    allowed = allowed_cpus(root)
    usable = topology.cpus if allowed is None else allowed
    busy = cpu_busy(root, sleep) if wish == ODD_NUMA_NODE else {}
    daemon = choose_cpus(wish, topology, usable, npu_nodes=npu_nodes(npus, topology, root), busy=busy)
    return Placement(daemon=daemon, client=client_cpus(daemon, usable))
