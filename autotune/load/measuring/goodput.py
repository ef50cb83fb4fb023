"""Goodput: the share of all requests that were answered well and within the latency limits."""

from collections.abc import Iterable, Sequence

from autotune.load.client.recorder import Columns
from autotune.model.limit import Limit, LimitMetric
from autotune.model.measurement import OverLimit
from autotune.units import MILLISECONDS_PER_SECOND


def goodput(
    columns: Columns, rows: Iterable[int], *, requests: int, limits: tuple[Limit, ...], scale: float
) -> float | None:
    """Requests among `rows` that keep every latency limit, over all requests; None without such a limit.

    A limit on a mean or a percentile is held here against each single request (event gaps: its mean gap).
    """
    bounds = [limit for limit in limits if not limit.metric.is_share]
    if not bounds or not requests:
        return None
    kept = sum(
        1 for row in rows if all(limit.holds(_value(columns, row, limit.metric, scale)) for limit in bounds)
    )
    return kept / requests


def over_limits(
    columns: Columns, rows: Sequence[int], *, limits: tuple[Limit, ...], scale: float
) -> tuple[OverLimit, ...]:
    """How many single requests among `rows` are beyond the bound of each latency limit."""
    return tuple(
        OverLimit(
            limit=limit.text,
            over=sum(not limit.holds(_value(columns, row, limit.metric, scale)) for row in rows),
            requests=len(rows),
        )
        for limit in limits
        if not limit.metric.is_share
    )


def _value(columns: Columns, row: int, metric: LimitMetric, scale: float) -> float:
    factor = MILLISECONDS_PER_SECOND * scale
    if metric is LimitMetric.TTFT:
        return factor * (columns.first[row] - columns.scheduled[row])
    if metric is LimitMetric.E2E:
        return factor * (columns.end[row] - columns.scheduled[row])
    streamed = columns.last[row] - columns.first[row]
    events = columns.events[row]
    tokens = columns.tokens[row] if columns.tokens[row] >= 0 else events
    count = events if metric is LimitMetric.EVENT_GAP else tokens
    return factor * streamed / (count - 1) if count > 1 else 0.0
