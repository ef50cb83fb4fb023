"""Errand: what a load test and its worker processes say to each other."""

from dataclasses import dataclass

from autotune.load.client.plan import LoadPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class Ready:
    """All connections are open."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Go:
    """Start the clock at this time of the host's monotonic clock."""

    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Enough:
    """End the test."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """What one worker does."""

    plan: LoadPlan
    cpus: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """The test could not begin."""

    message: str
    hint: str
    usage: bool = False
    """A wrong option or file, and not the service."""
