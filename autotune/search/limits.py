"""Limits: which launches surely keep what the user demands, and a history without the others."""

import math
from collections.abc import Sequence
from dataclasses import replace

from autotune.errors import LaunchCause
from autotune.model.because import Because
from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.limit import Limit, LimitMetric, LimitStatistic
from autotune.model.measurement import Distribution, Measurement
from autotune.model.move import Measure, Move
from autotune.model.settings import Settings
from autotune.search.strategy import Strategy
from autotune.statistics.compare import SPREAD_FLOOR
from autotune.statistics.shares import Judgement, judge_mean, judge_share

MOST_LEVELS = 3
"""Levels that one launch may be read to settle a limit on single requests."""
CONFIDENCE = 0.99
"""Of pass or fail of percentiles and shares."""
PERCENTILES = {
    LimitStatistic.P50: 0.5,
    LimitStatistic.P75: 0.25,
    LimitStatistic.P90: 0.1,
    LimitStatistic.P99: 0.01,
}
"""Share of the requests that a percentile allows to be beyond its bound."""
_NORMAL_95 = 1.96


def value_of(limit: Limit, measurement: Measurement) -> float | None:
    """The figure that a limit is about, in the limit's unit; None where the level does not give it."""
    if limit.metric is LimitMetric.ERRORS:
        failed = sum(each.count for each in measurement.failed) + measurement.short_replies
        return failed / measurement.requests if measurement.requests else None
    if limit.metric is LimitMetric.GOODPUT:
        return measurement.goodput
    distributions: dict[LimitMetric, Distribution] = {
        LimitMetric.TTFT: measurement.ttft_ms,
        LimitMetric.TPOT: measurement.tpot_ms,
        LimitMetric.EVENT_GAP: measurement.event_gap_ms,
        LimitMetric.E2E: measurement.e2e_ms,
    }
    value: float | None = getattr(distributions[limit.metric], limit.statistic.value)
    return value


def counted(limit: Limit, levels: Sequence[Measurement]) -> tuple[int, int] | None:
    """Requests that violate the limit and all requests, over the levels; None where they are not counted."""
    pairs = [_counted(limit, level) for level in levels]
    known = [pair for pair in pairs if pair is not None]
    if not known or len(known) < len(pairs):
        return None
    return sum(over for over, _ in known), sum(requests for _, requests in known)


def _counted(limit: Limit, level: Measurement) -> tuple[int, int] | None:
    if limit.metric is LimitMetric.ERRORS:
        failed = sum(each.count for each in level.failed) + level.short_replies
        return (failed, level.requests) if level.requests else None
    if limit.metric is LimitMetric.GOODPUT:
        requests = max((each.requests for each in level.over_limits), default=level.completed)
        return None if level.goodput is None else (round((1.0 - level.goodput) * requests), requests)
    found = next((each for each in level.over_limits if each.limit == limit.text), None)
    return None if found is None or found.requests < 1 else (found.over, found.requests)


def allowed_share(limit: Limit) -> float | None:
    """Share of the requests that may violate the limit; None for a mean."""
    if limit.metric.is_share:
        return limit.bound if limit.at_most else 1.0 - limit.bound
    return PERCENTILES.get(limit.statistic)


def judge(limit: Limit, levels: Sequence[Measurement]) -> Judgement:
    """Whether the levels of one launch keep a limit. What they do not give is not kept.

    Percentiles and shares by the binomial bound of the requests counted (a source that counts none: by the
    plain figure), means by their error: that of the throughput, and the launch-to-launch spread.
    """
    values = [value for level in levels if (value := value_of(limit, level)) is not None]
    if not values:
        return Judgement.BROKEN
    allowed = allowed_share(limit)
    if allowed is None:
        error = math.hypot(SPREAD_FLOOR, levels[-1].half_width / _NORMAL_95 / math.sqrt(len(values)))
        return judge_mean(sum(values) / len(values), error, limit.bound)
    counts = counted(limit, levels)
    if counts is None:
        return Judgement.KEPT if limit.holds(values[-1]) else Judgement.BROKEN
    return judge_share(*counts, allowed, confidence=CONFIDENCE)


def standing(limits: tuple[Limit, ...], levels: Sequence[Measurement]) -> tuple[Judgement, Limit | None]:
    """The worst judgement over all limits, and the first limit that has it; KEPT without any."""
    found = [(judge(limit, levels), limit) for limit in limits]
    for worst in (Judgement.BROKEN, Judgement.OPEN):
        limit = next((limit for judgement, limit in found if judgement is worst), None)
        if limit is not None:
            return worst, limit
    return Judgement.KEPT, None


def compared_levels(launch: LaunchRecord) -> tuple[Measurement, ...]:
    """The valid levels of a launch at its highest concurrency: those that are compared."""
    most = max((level.concurrency for level in launch.measurements), default=0)
    return tuple(level for level in launch.measurements if level.concurrency == most)


def levels_of(history: History, settings: Settings, concurrency: int) -> tuple[Measurement, ...]:
    """The valid levels of all restarts of these settings at the concurrency of the comparison."""
    return tuple(
        level
        for launch in history.of(settings)
        if launch.purpose is not Purpose.SCOUT
        for level in launch.measurements
        if level.concurrency == concurrency
    )


def keeps(history: History, limits: tuple[Limit, ...], settings: Settings, concurrency: int) -> bool:
    """Every limit is surely kept by what all restarts of these settings read together."""
    levels = levels_of(history, settings, concurrency)
    return bool(levels) and standing(limits, levels)[0] is Judgement.KEPT


def level_for_limits(
    history: History, limits: tuple[Limit, ...], concurrency: int, half_width: float
) -> Measure | None:
    """One more level of the running launch while a limit on single requests is open."""
    running = history.running
    if running is None or running.purpose is Purpose.SCOUT:
        return None
    levels = tuple(level for level in running.measurements if level.concurrency == concurrency)
    if not levels or len(running.levels) - len(running.measurements) > 0 or len(levels) >= MOST_LEVELS:
        return None
    judgement, limit = standing(limits, levels)
    if judgement is not Judgement.OPEN or limit is None or allowed_share(limit) is None:
        return None
    return Measure(
        concurrency=concurrency,
        half_width=half_width,
        reason="the limit is neither surely kept nor surely broken",
        because=Because.LIMIT_OPEN,
    )


def judged(history: History, limits: tuple[Limit, ...], concurrency: int) -> History:
    """The history with the launches of settings that don't surely keep the limits turned into refused ones.

    What all launches of a setting read together decides: one of them alone may be lucky, or unlucky.
    Strategies then treat its setting as one that does not run, and look below it. Sweeps stay as they
    are: they show throughput, and restarts decide.
    """
    if not limits:
        return history
    return replace(
        history,
        launches=tuple(_judged(each, history, limits, concurrency) for each in history.launches),
    )


def _judged(
    launch: LaunchRecord, history: History, limits: tuple[Limit, ...], concurrency: int
) -> LaunchRecord:
    read = any(level.concurrency == concurrency for level in launch.measurements)
    if not read or launch.purpose is Purpose.SCOUT:
        return launch
    judgement, limit = standing(limits, levels_of(history, launch.settings, concurrency))
    if judgement is Judgement.KEPT or limit is None:
        return launch
    name = limit.text or limit.metric.value
    broken = judgement is Judgement.BROKEN
    return replace(
        launch,
        outcome=Outcome.FAILED,
        cause=LaunchCause.CONFIG,
        detail=f"breaks the limit {name}" if broken else f"does not surely keep the limit {name}",
        levels=(),
    )


def any_read(history: History, *, beside: Settings | None = None) -> bool:
    """Something gave a reading outside a sweep, `beside` these settings, whatever the limits say of it."""
    restarts = (launch for launch in history.launches if launch.purpose is not Purpose.SCOUT)
    return any(launch.last is not None and launch.settings != beside for launch in restarts)


class Judged:
    """A strategy that sees launches which do not keep the limits as refused ones."""

    def __init__(self, inner: Strategy, limits: tuple[Limit, ...], concurrency: int) -> None:
        self._inner = inner
        self._limits = limits
        self._concurrency = concurrency

    def next_move(self, history: History) -> Move:
        """What the inner strategy says of the judged history."""
        return self._inner.next_move(judged(history, self._limits, self._concurrency))
