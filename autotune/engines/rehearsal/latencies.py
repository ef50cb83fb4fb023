"""Latencies of a rehearsed level: of the requests in its steady part, and how many are beyond each limit."""

from collections.abc import Callable
from dataclasses import dataclass

from autotune.model.limit import Limit, LimitMetric
from autotune.model.measurement import Distribution, OverLimit
from autotune.simulator.closed_loop import ClosedLoop
from autotune.simulator.latency import distribution_ms, e2e_seconds, tpot_seconds, ttft_seconds
from autotune.simulator.sequence import Sequence
from autotune.units import MILLISECONDS_PER_SECOND

_SECONDS: dict[LimitMetric, Callable[[Sequence], float]] = {
    LimitMetric.TTFT: ttft_seconds,
    LimitMetric.TPOT: tpot_seconds,
    LimitMetric.EVENT_GAP: tpot_seconds,
    LimitMetric.E2E: e2e_seconds,
}
"""Seconds of one request; for event gaps its mean gap."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Latencies:
    """What the requests of one level waited."""

    ttft_ms: Distribution
    tpot_ms: Distribution
    e2e_ms: Distribution
    over_limits: tuple[OverLimit, ...]
    goodput: float | None
    """Share of the requests that keep every latency limit; None without such a limit."""


def latencies_of(loop: ClosedLoop, steady_from: float, limits: tuple[Limit, ...]) -> Latencies:
    """Of what finished after `steady_from` seconds and was not part of the burst at the start.

    All that finished, where the steady part has nothing.
    """
    steady = [each for each in loop.finished if (each.finished or 0.0) >= steady_from and each.arrived > 0.0]
    done = steady or loop.finished
    bounds = [limit for limit in limits if not limit.metric.is_share]
    beyond = [[not _holds(limit, each) for each in done] for limit in bounds]
    counted = zip(bounds, beyond, strict=True)
    good = sum(not any(several) for several in zip(*beyond, strict=True))
    return Latencies(
        ttft_ms=distribution_ms([ttft_seconds(each) for each in done]),
        tpot_ms=distribution_ms([tpot_seconds(each) for each in done if each.output_tokens > 1]),
        e2e_ms=distribution_ms([e2e_seconds(each) for each in done]),
        over_limits=tuple(
            OverLimit(limit=limit.text, over=sum(several), requests=len(done)) for limit, several in counted
        ),
        goodput=good / len(done) if bounds and done else None,
    )


def _holds(limit: Limit, sequence: Sequence) -> bool:
    if limit.metric in {LimitMetric.TPOT, LimitMetric.EVENT_GAP} and sequence.output_tokens < 2:  # noqa: PLR2004 - one token has no gap
        return True
    return limit.holds(_SECONDS[limit.metric](sequence) * MILLISECONDS_PER_SECOND)
