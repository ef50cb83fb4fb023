"""Identity: which process is meant, so that a pid the kernel gives out again never stands in for it."""

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_FIELDS_AFTER_NAME = 20  # state (field 3 of proc(5)) to starttime (field 22)


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A process by pid and start.

    `create_time` is in seconds since boot, as the kernel keeps it: unlike seconds since the epoch it does
    not shift when the host's clock is set. It names a process only together with the boot id.
    """

    pid: int
    create_time: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Stat:
    """What `/proc/<pid>/stat` says of a process."""

    identity: Identity
    name: str
    state: str
    """R, S, D, Z, ... as in proc(5)."""
    parent: int
    group: int
    session: int

    @property
    def living(self) -> bool:
        """False for a zombie: it holds nothing but its exit code."""
        return self.state not in {"Z", "X"}


def read_stat(pid: int, proc: Path = PROC) -> Stat | None:
    """Look a process up; None when there is none. Names with blanks and brackets are read right."""
    try:
        text = (proc / str(pid) / "stat").read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    name_start, name_end = text.find("("), text.rfind(")")
    fields = text[name_end + 2 :].split()
    if name_start < 0 or len(fields) < _FIELDS_AFTER_NAME:
        return None
    ticks = int(fields[_FIELDS_AFTER_NAME - 1])
    return Stat(
        identity=Identity(pid=pid, create_time=ticks / TICKS_PER_SECOND),
        name=text[name_start + 1 : name_end],
        state=fields[0],
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
    )


def identity_of(pid: int, proc: Path = PROC) -> Identity | None:
    """Name the process that has this pid now; None when there is none."""
    stat = read_stat(pid, proc)
    return stat.identity if stat else None


def stat_of(identity: Identity, proc: Path = PROC) -> Stat | None:
    """Look up exactly this process; None when its pid is gone or belongs to another one."""
    stat = read_stat(identity.pid, proc)
    return stat if stat and stat.identity == identity else None


def alive(identity: Identity, proc: Path = PROC) -> bool:
    """Tell whether exactly this process still runs; a zombie does not."""
    stat = stat_of(identity, proc)
    return stat is not None and stat.living


def started_wall(identity: Identity, proc: Path = PROC) -> float:
    """Give its start in seconds since the epoch, by the host's clock of today.

    It shifts when that clock is set, so it is good for holding against a recorded wall time, not for naming.
    """
    for line in (proc / "stat").read_text(encoding="ascii").splitlines():
        if line.startswith("btime "):
            return int(line.split()[1]) + identity.create_time
    return identity.create_time


def boot_id(proc: Path = PROC) -> str:
    """Name the current boot; identities and sysfs values of another boot mean nothing in this one."""
    return (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def command_line(pid: int, proc: Path = PROC) -> str:
    """Give a process's command line for a message, at most 200 characters; empty when it cannot be read."""
    try:
        raw = (proc / str(pid) / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""
    return " ".join(raw.decode(errors="replace").split("\0")).strip()[:200]
