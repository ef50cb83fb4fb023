"""Host watch: on which CPUs and memory the service's processes really ran, also those that came later."""

from collections.abc import Collection
from pathlib import Path

from autotune.host.binding import BindingCheck, check_binding
from autotune.host.memory_policy import MemoryCheck, check_memory
from autotune.model.protocols import Clock
from autotune.model.service import Fact

_LOOK_SECONDS = 10.0
"""Reading the CPUs of every thread of a large service takes some ten milliseconds."""


class HostWatch:
    """Is given pids by the engine again and again; keeps the look that saw most processes."""

    def __init__(
        self, clock: Clock, *, cpus: Collection[int] = (), policy: str = "", root: Path = Path("/")
    ) -> None:
        self._clock = clock
        self._cpus = frozenset(cpus)
        self._policy = policy
        self._root = root
        self._looked = float("-inf")
        self._known: frozenset[int] = frozenset()
        self._binding: BindingCheck | None = None
        self._memory: MemoryCheck | None = None

    def see(self, pids: Collection[int]) -> None:
        """Look at these processes now; soon after the last look only if others have come."""
        now = self._clock.now()
        if now - self._looked < _LOOK_SECONDS and self._known.issuperset(pids):
            return
        self._looked, self._known = now, frozenset(pids)
        if self._cpus:
            found = check_binding(pids, self._cpus, root=self._root)
            if self._binding is None or _size(found) >= _size(self._binding):
                self._binding = found
        if self._policy:
            memory = check_memory(pids, self._policy, root=self._root)
            if self._memory is None or memory.held + len(memory.others) >= self._memory.held:
                self._memory = memory

    def facts(self) -> tuple[Fact, ...]:
        """What was seen, for the report; nothing when the service was neither bound nor given a policy."""
        facts = []
        if self._binding is not None:
            facts.append(Fact(name="service bound", value=_told(self._binding)))
        if self._memory is not None:
            facts.append(Fact(name="service memory", value=_memory_told(self._memory)))
        return tuple(facts)


def _size(check: BindingCheck) -> int:
    return check.bound + len(check.rebound)


def _told(check: BindingCheck) -> str:
    total = _size(check)
    if check.holds:
        return f"all {total} processes on CPUs {check.wanted}, read back"
    groups: dict[tuple[str, str], int] = {}
    for each in check.rebound:
        groups[each.name, each.cpus] = groups.get((each.name, each.cpus), 0) + 1
    others = "; ".join(f"{count} x {name} on {cpus}" for (name, cpus), count in sorted(groups.items()))
    return f"{check.bound} of {total} processes on CPUs {check.wanted}; bound themselves elsewhere: {others}"


def _memory_told(check: MemoryCheck) -> str:
    total = check.held + len(check.others)
    others = sorted({policy for _, policy in check.others})
    rest = f"; the others have {', '.join(others)}" if others else ""
    return f"{check.wanted} for {check.held} of {total} processes, read back{rest}"
