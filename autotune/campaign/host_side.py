"""HostSide: what differs between a real host and a rehearsal: engine, load, clock, host settings."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from autotune.campaign.interruption import InterruptibleClock
from autotune.model.change import SysfsWritten
from autotune.model.protocols import Engine, Listener, Source
from autotune.model.service import Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedHost:
    """The host while trials run."""

    facts: tuple[Fact, ...] = ()
    """What became of each host setting, for the report."""
    keep: Callable[[], tuple[SysfsWritten, ...]] = tuple
    """Leave the settings so at the end; gives what will not be put back."""


def _untouched(_listener: Listener) -> AbstractContextManager[PreparedHost]:
    return nullcontext(PreparedHost())


@dataclass(frozen=True, kw_only=True, slots=True)
class HostSide:
    """One side, ready to be joined with a strategy and a store."""

    engine: Engine
    source: Source
    clock: InterruptibleClock
    blocks: int | None = None
    """KV blocks that are known before any launch."""
    host_lines: tuple[Fact, ...] = ()
    """What will be changed on the host, for the plan."""
    facts: tuple[Fact, ...] = ()
    """The host as found."""
    prepared: Callable[[Listener], AbstractContextManager[PreparedHost]] = _untouched
    """Host settings for the time of the campaign."""
