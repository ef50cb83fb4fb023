"""Limits: which launches keep what the user demands, and a history in which the others count as refused."""

from dataclasses import replace

from autotune.errors import LaunchCause
from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.limit import Limit, LimitMetric
from autotune.model.measurement import Distribution, Measurement


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


def broken(limits: tuple[Limit, ...], measurement: Measurement) -> Limit | None:
    """The first limit that a level does not keep. What a level does not give is not kept."""
    for limit in limits:
        value = value_of(limit, measurement)
        if value is None or not limit.holds(value):
            return limit
    return None


def judged(history: History, limits: tuple[Limit, ...]) -> History:
    """The history with every launch that broke a limit turned into one that was refused.

    Strategies then treat its setting as one that does not run, and look below it. Sweeps stay as they
    are: they show throughput, and restarts decide.
    """
    if not limits:
        return history
    return replace(history, launches=tuple(_judged(launch, limits) for launch in history.launches))


def _judged(launch: LaunchRecord, limits: tuple[Limit, ...]) -> LaunchRecord:
    last = launch.last
    failing = None if last is None or launch.purpose is Purpose.SCOUT else broken(limits, last)
    if failing is None:
        return launch
    return replace(
        launch,
        outcome=Outcome.FAILED,
        cause=LaunchCause.CONFIG,
        detail=f"breaks the limit {failing.text or failing.metric.value}",
        levels=(),
    )


def all_broken(history: History, limits: tuple[Limit, ...]) -> bool:
    """Something was measured, and none of it kept the limits."""
    levels = [
        launch.last
        for launch in history.launches
        if launch.purpose is not Purpose.SCOUT and launch.last is not None
    ]
    return bool(levels) and all(broken(limits, level) is not None for level in levels)
