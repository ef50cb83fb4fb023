"""Client: whether this host can hold the connections of the load, and what lies in their way."""

import resource
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.load.client.capacity import Ports, ports_of

SPARE_FILES = 64
"""Open files of the client beside its connections."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientFacts:
    """Limits of this process and of this host."""

    concurrency: int
    soft_files: int | None
    """None is without limit."""
    hard_files: int | None
    ports: Ports | None
    proxies: tuple[str, ...]
    """Names of proxy variables in the service's environment or in ours."""
    source: str
    """What produces the load."""


def gather_client(
    *,
    concurrency: int,
    port: int,
    source: str,
    environments: tuple[Mapping[str, str], ...],
    proc: Path = Path("/proc"),
) -> ClientFacts:
    """Read the limits; `port` is the service's, whose connections may still rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    names = sorted({name for given in environments for name in given if name.lower().endswith("_proxy")})
    return ClientFacts(
        concurrency=concurrency,
        soft_files=_limit(soft),
        hard_files=_limit(hard),
        ports=ports_of(port, proc),
        proxies=tuple(name for name in names if name.lower() != "no_proxy"),
        source=source,
    )


def _limit(value: int) -> int | None:
    return None if value in (resource.RLIM_INFINITY, -1) else value


def client_checks(facts: ClientFacts) -> tuple[Check, ...]:
    """Open files, local ports and proxies."""
    return _files(facts), _ports(facts), _proxies(facts)


def _files(facts: ClientFacts) -> Check:
    needed = facts.concurrency + SPARE_FILES
    if facts.hard_files is not None and facts.hard_files < needed:
        return error(
            "ulimits",
            f"{facts.concurrency} clients need {needed} open files, the hard limit is {facts.hard_files}",
            f"ulimit -n {needed}   (as root; or LimitNOFILE={needed} in the unit)",
        )
    raised = facts.soft_files is not None and facts.soft_files < needed
    how = f", raised from {facts.soft_files} for the load" if raised else ""
    hard = "without limit" if facts.hard_files is None else f"at most {facts.hard_files}"
    return fine("ulimits", f"{needed} open files for {facts.concurrency} clients, {hard}{how}")


def _ports(facts: ClientFacts) -> Check:
    ports = facts.ports
    widen = 'sysctl -w net.ipv4.ip_local_port_range="1024 65535"'
    if ports is None:
        return advice(
            "port range", "the kernel does not tell its range of local ports", "mount -t proc proc /proc"
        )
    if ports.count < facts.concurrency:
        return error("port range", f"{ports.count} local ports for {facts.concurrency} clients", widen)
    if ports.count - ports.resting < facts.concurrency:
        fact = f"{ports.resting} of {ports.count} local ports rest in TIME_WAIT"
        return advice("port range", fact, "wait a minute, or: sysctl -w net.ipv4.tcp_tw_reuse=1")
    return fine("port range", f"{ports.count} local ports for {facts.concurrency} clients")


def _proxies(facts: ClientFacts) -> Check:
    if not facts.proxies:
        return fine("proxies", "none set")
    names = ", ".join(facts.proxies)
    if facts.source == "own":
        return fine("proxies", f"{names} set; the service and our clients never see them")
    fact = f"{names} set; {facts.source} may send the load through them"
    return advice("proxies", fact, f"unset {' '.join(facts.proxies)}")
