"""Move: what a strategy wants next, as a value."""

from dataclasses import dataclass
from enum import Enum, unique

from autotune.model.because import Because
from autotune.model.launch import Purpose
from autotune.model.settings import Settings


@unique
class VerdictCode(Enum):
    """How a campaign ends."""

    IMPROVED = "improved"
    INCUMBENT_BEST = "incumbent_best"
    EQUAL_SMALLER = "equal_smaller"
    LIMIT_UNMET = "limit_unmet"
    NOT_MEASURABLE = "not_measurable"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What a strategy expects a launch to read, said before it starts."""

    tokens_per_second: float
    half_width: float
    """Half of the 95 % prediction interval, a fraction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """End the running launch, if any, and start the service with these settings."""

    settings: Settings
    purpose: Purpose
    reason: str = ""
    expected: Expected | None = None
    """None where the strategy predicts nothing."""
    because: Because = Because.UNSTATED


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """Run one level on the running launch."""

    concurrency: int
    half_width: float
    """Wanted half-width, a fraction."""
    stop_below: float | None = None
    """Tokens a second: end early once the level is surely below this."""
    longest_seconds: float | None = None
    """Of the service's clock, after which the level ends as it is; None: as long as any level may take."""
    reason: str = ""
    because: Because = Because.UNSTATED


@dataclass(frozen=True, kw_only=True, slots=True)
class Finish:
    """Nothing more to learn: the settings to recommend, the verdict and why the search ended."""

    settings: Settings | None
    code: VerdictCode
    reason: str = ""
    gain: float | None = None
    """Over the incumbent, as the search believes before any confirmation; None where it does not say."""
    because: Because = Because.UNSTATED


@dataclass(frozen=True, kw_only=True, slots=True)
class Wait:
    """Another host's launch must end first."""


Move = Launch | Measure | Finish | Wait
