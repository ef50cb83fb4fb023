"""Lease: who runs a launch of a shared study, and until when that may be believed."""

from dataclasses import dataclass

LEASE = "lease"
"""User attribute of a trial."""
GIVEN_BACK = "given back"
SECONDS = 120.0
"""Without a sign of life for so long, a launch is given back; losing the database for less costs nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """One process on one host."""

    host: str
    pid: int
    boot_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A launch that an agent has taken."""

    agent: Agent
    claim: str
    """Unique, so that a claim whose answer was lost is found again."""
    until: float
    """Seconds since the epoch by the database's clock, since hosts' clocks differ."""


def is_over(lease: Lease | None, *, now: float, here: Agent, lives: bool) -> bool:
    """Whether its agent is gone: the time is up, or it was on this host and its process or boot is gone.

    `lives` says whether a process with the lease's pid runs on this host.
    """
    if lease is None or lease.until < now:
        return True
    if lease.agent.host != here.host:
        return False
    return lease.agent.boot_id != here.boot_id or not lives
