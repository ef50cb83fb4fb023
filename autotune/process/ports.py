"""Ports: whether a service may listen, asked exactly as MindIE's daemon asks, and who stands in the way."""

import fcntl
import os
import random
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.protocols import Clock
from autotune.process.identity import PROC, command_line

TIME_WAIT_SECONDS = 75.0
"""Linux keeps a closed connection for 60 s; the rest is margin."""
_POLL_SECONDS = 0.25
_LOOK_SECONDS = 5.0  # naming an owner reads every descriptor of the host
_TRIES = 2000
LEASES = Path("/run/lock/ascend-autotune-ports")
"""A file without content, of which a process locks the byte of each port that it has chosen."""
_opened: dict[Path, int] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """Who listens on a port; the pid is None where /proc does not tell."""

    port: int
    pid: int | None
    command: str = ""

    def __str__(self) -> str:
        if self.pid is None:
            return f"port {self.port} is in use by a process that /proc does not name"
        return f"port {self.port} is in use by pid {self.pid} ({self.command or 'command unknown'})"


def is_free(port: int) -> bool:
    """Probe as the daemon does: bind 0.0.0.0 over IPv4 without SO_REUSEADDR, so TIME_WAIT counts too."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - it never listens
        except OSError:
            return False
    return True


def listener(port: int) -> Owner | None:
    """Name who listens on a port; None when nobody does (TIME_WAIT is nobody).

    A port that is free is told at once; else every descriptor of the host is looked at.
    """
    if is_free(port):
        return None
    for connection in psutil.net_connections(kind="tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port:
            command = command_line(connection.pid) if connection.pid else ""
            return Owner(port=port, pid=connection.pid, command=command)
    return None


def wait_until_free(ports: Collection[int], *, clock: Clock, seconds: float = TIME_WAIT_SECONDS) -> float:
    """Wait until all ports can be bound, and tell how many seconds that took.

    Only closed connections and processes that end are waited for: a port that somebody else listens on
    raises at once. Raises LaunchFailed(PORT) with the owner.
    """
    began = next_look = clock.now()
    while busy := [port for port in ports if not is_free(port)]:
        if clock.now() >= next_look:
            _refuse_listeners(busy)
            next_look = clock.now() + _LOOK_SECONDS
        if clock.now() - began >= seconds:
            line = f"port {busy[0]} is still held by closed connections after {seconds:.0f} s"
            raise LaunchFailed(LaunchCause.PORT, line, lines=(line,))
        clock.sleep(_POLL_SECONDS)
    return clock.now() - began


def _refuse_listeners(ports: Collection[int]) -> None:
    owners = tuple(str(owner) for port in ports if (owner := listener(port)) is not None)
    if owners:
        raise LaunchFailed(LaunchCause.PORT, "; ".join(owners), lines=owners)


def choose_free(
    count: int, *, seed: int | None = None, proc: Path = PROC, leases: Path | None = LEASES
) -> tuple[int, ...]:
    """Choose ports that can be bound now, outside the range that outgoing connections draw from.

    A service binds them only when it has loaded its model. Until this process ends no other one that asks
    here is given the same ones; None as `leases` only looks, and writes nothing.
    Raises LaunchFailed(PORT) when the host has too few.
    """
    low, high = _ephemeral_range(proc)
    candidates: Sequence[int] = [port for port in range(20000, 65000) if not low <= port <= high]
    draw = random.Random(seed)  # noqa: S311 - spreads choices, keeps no secret
    chosen: list[int] = []
    for _ in range(_TRIES):
        port = draw.choice(candidates)
        if port not in chosen and is_free(port) and (leases is None or _leased(port, leases)):
            chosen.append(port)
        if len(chosen) == count:
            return tuple(chosen)
    raise LaunchFailed(LaunchCause.PORT, f"no {count} free ports between 20000 and 65000")


def _ephemeral_range(proc: Path) -> tuple[int, int]:
    try:
        low, high = (proc / "sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()
    except FileNotFoundError:
        return 32768, 60999  # the kernel's own default
    return int(low), int(high)


def _leased(port: int, leases: Path) -> bool:
    """Lock the port's byte; False when another process has it. Where there is no such file nobody is asked.

    The kernel frees it with this process: the descriptor is kept open, since closing one frees all.
    """
    try:
        if leases not in _opened:
            flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
            _opened[leases] = os.open(leases, flags if leases.exists() else flags | os.O_CREAT, 0o666)
    except OSError:
        return True
    try:
        fcntl.lockf(_opened[leases], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True
