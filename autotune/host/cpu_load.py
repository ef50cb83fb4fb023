"""CPU load: how busy each CPU is now, so that the daemon gets the freest node."""

from collections.abc import Callable
from pathlib import Path

_IDLE_FIELDS = (3, 4)  # idle and iowait of proc(5)


def cpu_busy(root: Path, sleep: Callable[[float], None], *, seconds: float = 0.2) -> dict[int, float]:
    """Busy fraction of each CPU over a moment; empty when the kernel does not tell."""
    before = _read(root)
    if not before:
        return {}
    sleep(seconds)
    after = _read(root)
    return {cpu: _busy(before[cpu], after[cpu]) for cpu in after if cpu in before}


def _read(root: Path) -> dict[int, tuple[int, int]]:
    """Idle and total ticks of each CPU."""
    try:
        lines = (root / "proc/stat").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    ticks: dict[int, tuple[int, int]] = {}
    for line in lines:
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdecimal() and len(fields) > max(_IDLE_FIELDS):
            numbers = [int(field) for field in fields[:8]]
            ticks[int(name[3:])] = (sum(numbers[field] for field in _IDLE_FIELDS), sum(numbers))
    return ticks


def _busy(before: tuple[int, int], after: tuple[int, int]) -> float:
    total = after[1] - before[1]
    return max(0.0, min(1.0, 1 - (after[0] - before[0]) / total)) if total > 0 else 0.0
