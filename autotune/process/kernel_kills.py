"""Kernel kills: how many processes of our own cgroup the kernel has killed for want of the host's memory."""

from pathlib import Path

from autotune.process.identity import PROC

CGROUPS = Path("/sys/fs/cgroup")
_UNIFIED = "0::"


def kernel_kills(proc: Path = PROC, cgroups: Path = CGROUPS) -> int | None:
    """Read oom_kill of memory.events (cgroup v2); None where the kernel does not tell."""
    try:
        lines = (proc / "self/cgroup").read_text(encoding="utf-8").splitlines()
        own = next(line.removeprefix(_UNIFIED) for line in lines if line.startswith(_UNIFIED))
        events = (cgroups / own.strip("/") / "memory.events").read_text(encoding="ascii").splitlines()
        return int(next(line.split()[1] for line in events if line.startswith("oom_kill ")))
    except (OSError, StopIteration, ValueError, IndexError):
        return None
