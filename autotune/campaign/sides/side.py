"""HostSide: what differs between a real host and a rehearsal: engine, load, clock, host settings."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autotune.campaign.forecast import Residence, Timing
from autotune.campaign.interruption import InterruptibleClock
from autotune.host.setting import TO_BE_APPLIED
from autotune.model.change import HostChange
from autotune.model.protocols import Engine, Journal, Listener, Source
from autotune.model.service import Fact
from autotune.search.space import Space

if TYPE_CHECKING:
    from autotune.campaign.production import ProductionService  # not loaded by a rehearsal


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedHost:
    """The host while trials run."""

    facts: tuple[Fact, ...] = ()
    """What became of each host setting, for the report."""
    changes: tuple[HostChange, ...] = ()
    """What will be put back."""
    keep: Callable[[], tuple[HostChange, ...]] = tuple
    """Leave the settings so at the end; gives what will not be put back."""
    observed: Callable[[], tuple[Fact, ...]] = tuple
    """Where the service's processes really ran, as seen so far."""


def _nothing_aside(_listener: Listener) -> AbstractContextManager[None]:
    return nullcontext()


def _untouched(_listener: Listener) -> AbstractContextManager[PreparedHost]:
    return nullcontext(PreparedHost())


@dataclass(frozen=True, kw_only=True, slots=True)
class HostSide:
    """One side, ready to be joined with a strategy and a store."""

    engine: Engine
    plain_engine: Engine | None = None
    """The same without CPUs and memory of its own, for a comparison; None where the first has none either."""
    source: Source
    clock: InterruptibleClock
    formula_blocks: int | None = None
    """KV blocks by the formula: good for a bracket until a launch tells them, not for anything else."""
    timing: Timing | None = None
    """How long starts and stops take, where that is known before the first one."""
    residence: Callable[[Space], Residence] | None = None
    """How long a request will run, where something can tell before the first launch."""
    blocks: int | None = None
    """KV blocks that are known before any launch."""
    host_lines: tuple[Fact, ...] = ()
    """What will be changed on the host, for the plan."""
    facts: tuple[Fact, ...] = ()
    """The host as found."""
    aside: Callable[[Listener], AbstractContextManager[None]] = _nothing_aside
    """Production out of the way, and back."""
    production: "ProductionService | None" = None
    """The live service, for a night, which brings it back in its own way; None where there is none."""
    journal: Journal | None = None
    """The run's crash journal; None in virtual time."""
    settings: Callable[[Listener], AbstractContextManager[PreparedHost]] = _untouched
    """Host settings applied, and put back."""

    @property
    def changes_host(self) -> bool:
        """Whether the plan changes a setting of the host."""
        return any(TO_BE_APPLIED in line.value for line in self.host_lines)

    @contextmanager
    def prepared(self, listener: Listener) -> Iterator[PreparedHost]:
        """Production out of the way, then the host's settings; back in the reverse order.

        Raises NotRestored when something could not be put back.
        """
        with self.aside(listener), self.settings(listener) as host:
            yield host
