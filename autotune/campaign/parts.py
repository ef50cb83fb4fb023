"""The parts that a campaign joins, as one value."""

from dataclasses import dataclass
from typing import Protocol

from autotune.campaign.interruption import InterruptibleClock
from autotune.model.campaign import Decision
from autotune.model.launch import LaunchRecord
from autotune.model.measurement import Level
from autotune.model.protocols import Engine, Listener, Source
from autotune.search.strategy import Strategy


class LaunchStore(Protocol):
    """Keeps what a run does, as it comes."""

    def launch_started(self, record: LaunchRecord) -> None:
        """A launch begins."""

    def level_ended(self, number: int, level: Level) -> None:
        """A level of the running launch gave its result."""

    def launch_ended(self, record: LaunchRecord) -> None:
        """A launch is final."""

    def decided(self, decision: Decision) -> None:
        """The strategy made one move."""


RESTORE_SECONDS = 60.0
"""For stopping a daemon, which may take its grace of 30 s, and putting back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """Everything that a run needs, already joined to one host or to virtual time."""

    engine: Engine
    source: Source
    strategy: Strategy
    store: LaunchStore
    clock: InterruptibleClock
    listener: Listener


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """What a run may spend."""

    max_launches: int
    level_cap_seconds: float
    """Seconds of the service's clock."""
    deadline_seconds: float = float("inf")
    """Seconds of the host's clock, from the start of the run."""
    restore_reserve_seconds: float = RESTORE_SECONDS
    """Kept back before the deadline for stopping and putting back."""
