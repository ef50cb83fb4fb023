"""The daemon's probe of its ports: a bind on all addresses without SO_REUSEADDR, which TIME_WAIT fails too.

Linux keeps TIME_WAIT for 60 s. A service that runs `scale` times faster waits out its connections as much
faster, so what is left of a connection counts only for the first 60 s / scale.
"""

import socket
from pathlib import Path
from typing import Final

TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_TIME_WAIT: Final = "06"
_TIME_WAIT_SECONDS: Final = 60.0
_TICKS_A_SECOND: Final = 100
"""USER_HZ, in which the kernel tells the timers."""


def why_busy(port: int, scale: float, tables: tuple[Path, ...] = TABLES) -> str:
    """Why the port cannot be had, as the system says it; empty when it is free."""
    failure = _bind(port, reuse=False)
    if failure and not _bind(port, reuse=True) and not _blocks(port, scale, tables):
        return ""
    return failure


def _bind(port: int, *, reuse: bool) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if reuse:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - it never listens
        except OSError as error:
            return error.strerror or str(error)
    return ""


def _blocks(port: int, scale: float, tables: tuple[Path, ...]) -> bool:
    """Whether a connection in TIME_WAIT is young enough to count."""
    waited_enough = _TIME_WAIT_SECONDS * (1 - 1 / max(1.0, scale))
    return any(left > waited_enough for left in time_wait_seconds(port, tables))


def time_wait_seconds(port: int, tables: tuple[Path, ...] = TABLES) -> list[float]:
    """What is left of each connection of this port in TIME_WAIT, in seconds."""
    found = []
    for table in tables:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _TIME_WAIT and int(fields[1].rpartition(":")[2], 16) == port:
                found.append(int(fields[5].partition(":")[2], 16) / _TICKS_A_SECOND)
    return found
