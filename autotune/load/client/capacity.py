"""Capacity: descriptors and local ports of the host, checked before a test that would run out of them."""

import resource
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Refused

_SPARE_DESCRIPTORS = 64
_TIME_WAIT = "06"
_TABLES = ("net/tcp", "net/tcp6")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ports:
    """Local ports for outgoing connections: how many there are, and how many still rest in TIME_WAIT."""

    count: int
    resting: int


def ensure_capacity(connections: int, port: int, *, proc: Path = Path("/proc")) -> None:
    """Raise the soft limit of descriptors where it is too low. Raises Refused when something runs out."""
    needed = connections + _SPARE_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in (resource.RLIM_INFINITY, -1) and hard < needed:
        raise Refused(
            f"{connections} connections need {needed} open files, the limit is {hard}",
            hint=f"ulimit -n {needed} (as root: LimitNOFILE= of the unit, or /etc/security/limits.conf)",
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    ports = ports_of(port, proc)
    if ports is None:
        return
    if ports.count < connections:
        raise Refused(
            f"{connections} connections need as many local ports, there are {ports.count}",
            hint='sysctl -w net.ipv4.ip_local_port_range="1024 65535"',
        )
    if ports.count - ports.resting < connections:
        raise Refused(
            f"{ports.resting} of {ports.count} local ports rest in TIME_WAIT, {connections} are needed",
            hint="wait a minute, or: sysctl -w net.ipv4.tcp_tw_reuse=1",
        )


def ports_of(port: int, proc: Path) -> Ports | None:
    """Ports towards one port of a service; None where the kernel does not tell."""
    try:
        low, high = (proc / "sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    resting = sum(_resting(proc / table, f":{port:04X}") for table in _TABLES)
    return Ports(count=int(high) - int(low) + 1, resting=resting)


def _resting(table: Path, port: str) -> int:
    """Lines of the form `sl local remote state ...` in state TIME_WAIT whose remote end is the port."""
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return 0
    rows = (line.split(maxsplit=4) for line in lines)
    return sum(1 for _, _, remote, state, *_ in rows if state == _TIME_WAIT and remote.endswith(port))
