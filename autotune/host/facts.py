"""Host facts: what a report says of the machine. Whatever can't be read is said to be unknown."""

import os
import platform
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from autotune.host.binding import rebinding_switches
from autotune.host.cpu_list import format_cpu_list
from autotune.host.governor import governors
from autotune.host.huge_pages import defrag, huge_page_bytes
from autotune.host.npu_facts import NpuFacts, npu_report
from autotune.host.short_command import Ask, NoAnswer, ask
from autotune.host.sysfs_value import read_value
from autotune.host.topology import Topology, allowed_cpus
from autotune.model.service import Fact
from autotune.units import KiB

_SECONDS = 5.0
_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"


def host_facts(
    topology: Topology,
    npus: NpuFacts,
    *,
    environment: Mapping[str, str] | None = None,
    root: Path = Path("/"),
    run: Ask = ask,
) -> tuple[Fact, ...]:
    """Everything about the host that makes readings comparable, or not.

    `environment` is the daemon's, for what re-binds itself and for a preloaded allocator.
    """
    given = environment or {}
    return (
        Fact(name="kernel", value=f"{platform.release()} {platform.machine()}"),
        Fact(name="page size", value=f"{os.sysconf('SC_PAGE_SIZE') // KiB} KiB"),
        *_cpu_facts(topology, root),
        *_memory_facts(root),
        *_service_facts(run),
        *rebinding_switches(given),
        Fact(name="LD_PRELOAD", value=given.get("LD_PRELOAD", "") or "not set"),
        *npu_report(npus),
    )


def _cpu_facts(topology: Topology, root: Path) -> tuple[Fact, ...]:
    allowed = allowed_cpus(root)
    counted = Counter(governors(root).values())
    driver = read_value(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver")
    by_count = ", ".join(f"{count} x {name}" for name, count in counted.most_common())
    return (
        Fact(name="CPU", value=_cpu_model(root)),
        Fact(name="NUMA nodes", value="; ".join(map(str, topology.nodes)) or "unknown"),
        Fact(name="allowed CPUs", value="unknown" if allowed is None else format_cpu_list(allowed)),
        Fact(name="governors", value=by_count or "no CPU frequency driver"),
        Fact(name="frequency driver", value=driver or "none"),
    )


def _memory_facts(root: Path) -> tuple[Fact, ...]:
    size = huge_page_bytes(root)
    return (
        Fact(name="huge pages", value=read_value(root / _HUGE_PAGES) or "not in this kernel"),
        Fact(name="huge page size", value=f"{size // KiB} KiB" if size else "unknown"),
        Fact(name="huge page defrag", value=defrag(root) or "unknown"),
        Fact(name="NUMA balancing", value=read_value(root / "proc/sys/kernel/numa_balancing") or "unknown"),
    )


def _service_facts(run: Ask) -> tuple[Fact, ...]:
    """Services that work against settings of ours; shown, never changed."""
    irqbalance = run(["systemctl", "is-active", "irqbalance"], _SECONDS)
    tuned = run(["tuned-adm", "active"], _SECONDS)
    profile = tuned.output.strip().rpartition(":")[2].strip() if tuned.ok else "not active"
    active = irqbalance.output.strip() or "unknown"
    return (
        Fact(name="irqbalance", value="unknown" if irqbalance.no_answer is not None else active),
        Fact(name="tuned", value="not installed" if tuned.no_answer is NoAnswer.MISSING else profile),
    )


def _cpu_model(root: Path) -> str:
    """The model as /proc/cpuinfo names it; on Arm the part number stands for it."""
    try:
        lines = (root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "unknown"
    halves = (line.partition(":") for line in reversed(lines))
    pairs = {name.strip(): value.strip() for name, _, value in halves}
    part = f"implementer {pairs.get('CPU implementer')} part {pairs.get('CPU part')}"
    return pairs.get("model name") or (part if "CPU part" in pairs else "unknown")
