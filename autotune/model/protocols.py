"""The protocols between the campaign and its edges: Engine, Service, Source, Journal, Clock, Listener."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from autotune.events import Event
from autotune.model.change import Change
from autotune.model.measurement import Level
from autotune.model.service import Blocks, Counters, Description, Endpoint
from autotune.model.settings import Settings

Listener = Callable[[Event], None]
"""Takes every event; must not raise."""


class Clock(Protocol):
    """Time as the campaign sees it; virtual in a rehearsal."""

    def now(self) -> float:
        """Seconds of a clock that never goes back."""

    def wall(self) -> float:
        """Seconds since the epoch."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""


class Service(Protocol):
    """A running service, ready to take requests."""

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens."""

    @property
    def blocks(self) -> Blocks | None:
        """KV blocks of this start; None when nothing tells."""

    def counters(self) -> Counters | None:
        """Current counters; None when this version has none."""

    def check(self) -> None:
        """Raise LaunchFailed when the service is no longer alive."""


class Engine(Protocol):
    """Settings -> running service."""

    def describe(self) -> Description:
        """Facts about the installation; touches nothing. Raises Refused when it cannot be used."""

    def preview(self, settings: Settings) -> str:
        """Unified diff from the configuration as found to one with these settings; touches nothing.

        Empty when the engine has no configuration file.
        """

    def launch(self, settings: Settings) -> AbstractContextManager[Service]:
        """Start the service; leaving the context stops it and puts its configuration back.

        Raises LaunchFailed when it does not get ready, NotRestored when putting back fails.
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelRequest:
    """What a level should achieve."""

    concurrency: int
    half_width: float
    """Wanted half-width, a fraction; 0.01 is 1 %."""
    cap_seconds: float
    """Longest time of the level, in seconds of the service's clock."""
    stop_below: float | None = None
    at_once: int | None = None
    """How many requests the service admits at once, by its settings; None where nothing tells."""
    sweep: bool = False
    """One of many levels of its launch, so that it may be short; any other is read until it is sure."""


class Source(Protocol):
    """What produces load."""

    def warm_up(self, service: Service) -> None:
        """Send a few requests that are not measured, until the service answers as it should.

        Raises LaunchFailed when it does not.
        """

    def measure(self, service: Service, request: LevelRequest, listener: Listener) -> Level:
        """Run one level. A failed test is an Invalid, never an exception."""


class Journal(Protocol):
    """The crash journal: what was changed is on disk before it is changed."""

    def record(self, change: Change) -> None:
        """Make the intention durable (fsync) before the change is made."""

    def settle(self, change: Change) -> None:
        """The change was undone, or kept on purpose: forget it."""
