"""Binding: whether processes really run on the CPUs that they were given, and what re-binds itself."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.host.cpu_list import format_cpu_list
from autotune.host.topology import allowed_cpus
from autotune.model.service import Fact

_SWITCHES = {
    "BIND_CPU": "model workers bind themselves to their NPU's node unless it is 0",
    "CPU_BINDING_NUM": "CPUs that each model worker takes",
    "CPU_AFFINITY_CONF": "the NPU runtime binds threads (1 coarse, 2 fine)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rebound:
    """A process that runs elsewhere than it was started."""

    pid: int
    name: str
    cpus: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BindingCheck:
    """What the kernel says of a tree of processes."""

    wanted: str
    bound: int
    """Processes, all of whose threads stay on the wanted CPUs."""
    rebound: tuple[Rebound, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all of them do."""
        return not self.rebound


def check_binding(pids: Iterable[int], wanted: Collection[int], *, root: Path = Path("/")) -> BindingCheck:
    """Read back the CPUs of every thread of these processes; one that has ended is left out."""
    bound = 0
    rebound: list[Rebound] = []
    for pid in pids:
        cpus = _thread_cpus(pid, root)
        if cpus is None:
            continue
        if cpus <= frozenset(wanted):
            bound += 1
        else:
            rebound.append(Rebound(pid=pid, name=_name(pid, root), cpus=format_cpu_list(cpus)))
    return BindingCheck(wanted=format_cpu_list(wanted), bound=bound, rebound=tuple(rebound))


def rebinding_switches(environment: Mapping[str, str]) -> tuple[Fact, ...]:
    """The variables that make processes bind themselves, as set for the daemon.

    MindIE's model workers do so by default (BIND_CPU=1).
    """
    return tuple(
        Fact(name=name, value=f"{environment.get(name, 'not set')} ({meaning})")
        for name, meaning in _SWITCHES.items()
        if name in environment or name == "BIND_CPU"
    )


def _thread_cpus(pid: int, root: Path) -> frozenset[int] | None:
    """All CPUs that any thread of the process may use; None when it is gone."""
    threads = [f"{pid}/task/{place.name}" for place in (root / f"proc/{pid}/task").glob("[0-9]*")]
    read = [allowed_cpus(root, pid=place) for place in threads or [str(pid)]]
    known = [cpus for cpus in read if cpus is not None]
    return frozenset().union(*known) if known else None


def _name(pid: int, root: Path) -> str:
    try:
        return (root / f"proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
