"""Marked: which processes were started with a certain variable in their environment."""

from pathlib import Path

import psutil

from autotune.process.identity import PROC, Stat, read_stat


def marked(name: str, value: str, proc: Path = PROC) -> tuple[Stat, ...]:
    """Every living process whose environment holds `name=value`, as far as /proc lets us see."""
    wanted = f"{name}={value}".encode()
    stats = (read_stat(pid, proc) for pid in psutil.pids() if _carries(pid, wanted, proc))
    return tuple(stat for stat in stats if stat is not None and stat.living)


def _carries(pid: int, wanted: bytes, proc: Path) -> bool:
    try:
        return wanted in (proc / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
