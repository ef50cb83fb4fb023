"""Launch: one start of the service with one Settings, from pending to ended or failed."""

from dataclasses import dataclass
from enum import Enum, unique

from autotune.errors import LaunchCause
from autotune.model.measurement import Level, Measurement
from autotune.model.service import BlockSource
from autotune.model.settings import Settings


@unique
class Purpose(Enum):
    """What a launch is for."""

    INCUMBENT = "incumbent"
    SCOUT = "scout"
    CANDIDATE = "candidate"
    CONFIRMATION = "confirmation"


@unique
class Outcome(Enum):
    """Where a launch stands."""

    PENDING = "pending"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseSeconds:
    """How the time of a launch was spent, in seconds of the campaign's clock."""

    start: float = 0.0
    warm_up: float = 0.0
    measure: float = 0.0
    stop: float = 0.0

    @property
    def total(self) -> float:
        """All of it."""
        return self.start + self.warm_up + self.measure + self.stop


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchRecord:
    """One launch as history keeps it; replaced, never mutated, as it goes on."""

    number: int
    purpose: Purpose
    settings: Settings
    outcome: Outcome = Outcome.PENDING
    cause: LaunchCause | None = None
    detail: str = ""
    host: str = ""
    blocks: int | None = None
    blocks_source: BlockSource | None = None
    """Where the number comes from; None where there is none, and in launches of older runs."""
    levels: tuple[Level, ...] = ()
    seconds: PhaseSeconds = PhaseSeconds()

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """The valid levels, in order."""
        return tuple(level for level in self.levels if isinstance(level, Measurement))

    @property
    def last(self) -> Measurement | None:
        """The last valid level, if there is one."""
        return self.measurements[-1] if self.measurements else None


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetLeft:
    """What a campaign may still spend."""

    launches: int
    seconds: float = float("inf")


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """All launches of a campaign in order, and the budget that is left: what strategies decide on."""

    launches: tuple[LaunchRecord, ...] = ()
    budget: BudgetLeft = BudgetLeft(launches=12)

    @property
    def running(self) -> LaunchRecord | None:
        """The launch that is pending now, if any."""
        pending = [launch for launch in self.launches if launch.outcome is Outcome.PENDING]
        return pending[-1] if pending else None

    def of(self, settings: Settings) -> tuple[LaunchRecord, ...]:
        """The launches that used exactly these settings."""
        return tuple(launch for launch in self.launches if launch.settings == settings)
