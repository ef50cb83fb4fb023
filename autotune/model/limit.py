"""Limit: a hard constraint on what a setting may cost in latency, goodput or errors."""

from dataclasses import dataclass
from enum import Enum, unique


@unique
class LimitMetric(Enum):
    """What is limited; latencies are in milliseconds, shares are fractions of all requests."""

    TTFT = "ttft"
    TPOT = "tpot"
    EVENT_GAP = "event_gap"
    E2E = "e2e"
    GOODPUT = "goodput"
    ERRORS = "errors"

    @property
    def is_share(self) -> bool:
        """True for fractions of all requests, False for latencies."""
        return self in {LimitMetric.GOODPUT, LimitMetric.ERRORS}


@unique
class LimitStatistic(Enum):
    """Which figure of a latency's distribution is limited; SHARE for fractions of requests."""

    MEAN = "mean"
    P50 = "p50"
    P75 = "p75"
    P90 = "p90"
    P99 = "p99"
    SHARE = "share"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """`metric:statistic <= bound`, or >= where `at_most` is False (goodput)."""

    metric: LimitMetric
    statistic: LimitStatistic
    bound: float
    """Milliseconds for latencies, a fraction for shares."""
    at_most: bool = True
    text: str = ""
    """As the user wrote it, for messages and the report."""

    def holds(self, value: float) -> bool:
        """Whether a value in the bound's unit keeps the limit."""
        return value <= self.bound if self.at_most else value >= self.bound
