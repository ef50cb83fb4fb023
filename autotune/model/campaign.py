"""Campaign: one tuning run as it is stored and reported, and its verdict."""

from dataclasses import dataclass

from autotune.model.because import Because
from autotune.model.bracket import Bracket
from autotune.model.launch import LaunchRecord
from autotune.model.measurement import Measurement
from autotune.model.move import Expected, VerdictCode
from autotune.model.service import Description, Fact
from autotune.model.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What is known of one setting over all of its launches."""

    settings: Settings
    tokens_per_second: float
    half_width: float
    """Fraction; launch-to-launch spread included."""
    launches: int
    measurement: Measurement | None = None
    """The last level, for the latencies beside the throughput."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The answer of a campaign."""

    code: VerdictCode
    reason: str
    """Why the search ended, as the strategy said it."""
    incumbent: Reading | None = None
    best: Reading | None = None
    gain: float | None = None
    """best over incumbent, minus 1."""
    gain_low: float | None = None
    gain_high: float | None = None
    compared: tuple[int, int] | None = None
    """Launches of the incumbent and of the best that the gain is from: fresh ones where there are any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitValue:
    """One limited figure of one setting."""

    limit: str
    """As the user wrote it."""
    value: float | None
    """In the limit's unit: milliseconds, or a fraction."""
    judgement: str
    """kept, broken or open."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TradeOff:
    """One restarted setting: what it gives and what the limits say."""

    settings: Settings
    tokens_per_second: float
    kept: bool
    """Every limit is surely kept."""
    efficient: bool
    """No other restarted setting is at least as good in all figures."""
    values: tuple[LimitValue, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitFindings:
    """What the limits did to a campaign."""

    rows: tuple[TradeOff, ...]
    """Ascending by max_batch_size."""
    fastest: Reading | None
    """The fastest restart, whatever the limits."""
    cost: float | None
    """Throughput that the limits cost: 1 - best / fastest, a fraction."""
    next_size: int | None
    """The nearest max_batch_size that is not recommended because of a limit."""
    next_reason: str
    """Why not, with the figure that was measured."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """One move of the strategy, stored so that a replay can be held against it."""

    after_launches: int
    after_levels: int
    kind: str
    """launch, measure or finish."""
    settings: Settings | None
    concurrency: int | None
    reason: str
    expected: Expected | None = None
    """What the launch was expected to read, where the strategy predicts."""
    because: Because = Because.UNSTATED
    """The stable code of the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """What a campaign will take, said before anything is touched."""

    launches_low: int
    launches_high: int
    seconds_low: float
    seconds: float
    seconds_high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Campaign:
    """One tuning run."""

    run: str
    """The run's name, also the study's."""
    profile_name: str
    profile_text: str
    """The profile as read, secrets are references and never values."""
    description: Description
    bracket: Bracket | None
    strategy: str
    started_wall: float
    ended_wall: float | None = None
    launches: tuple[LaunchRecord, ...] = ()
    decisions: tuple[Decision, ...] = ()
    verdict: Verdict | None = None
    restored: bool = False
    applied: bool = False
    rehearsed: bool = False
    config_diff: str = ""
    """Unified diff from the incumbent's configuration to the recommended one."""
    environment: tuple[Fact, ...] = ()
    forecast: Forecast | None = None
    limit_findings: LimitFindings | None = None
