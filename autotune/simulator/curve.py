"""Curve: predicted throughput, latencies and preemptions against max_batch_size."""

from collections.abc import Sequence as Values
from dataclasses import dataclass

from autotune.model.settings import Settings
from autotune.simulator.closed_loop import Load
from autotune.simulator.cost import StepCost
from autotune.simulator.lengths import Lengths
from autotune.simulator.policies import Rules
from autotune.simulator.reading import STEADY, Reading, Window, steady_state, whole_run

WHOLE_RUN_REQUESTS = 1319
"""Prompts of GSM8K's test set: what the vendor's benchmark sends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePoint:
    """What one max_batch_size is predicted to give in the steady state."""

    settings: Settings
    concurrency: int
    tokens_per_second: float
    running_mean: float
    ttft_ms: float
    """Mean, queueing included."""
    tpot_ms: float
    """Mean."""
    tpot_p90_ms: float
    preemptions_per_request: float
    whole_run_tokens_per_second: float | None = None
    """The same as the vendor's benchmark would read it, when asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CurveRequest:
    """What to predict for."""

    rules: Rules
    """The service's own; each point's settings go on top."""
    cost: StepCost
    lengths: Lengths
    concurrency: int
    window: Window = STEADY
    whole_run: bool = False


def predict(request: CurveRequest, settings: Settings) -> CurvePoint:
    """Predict one point."""
    rules = request.rules.with_settings(settings)
    load = Load(lengths=request.lengths, concurrency=request.concurrency)
    reading = steady_state(rules, request.cost, load, request.window)
    return _point(request, settings, reading, _whole(request, rules) if request.whole_run else None)


def predict_curve(request: CurveRequest, candidates: Values[Settings]) -> tuple[CurvePoint, ...]:
    """Predict all points, in the order given."""
    return tuple(predict(request, settings) for settings in candidates)


def peak(points: Values[CurvePoint]) -> CurvePoint:
    """The point with the highest throughput; the smaller limit of two that are equal."""
    return max(points, key=lambda point: (point.tokens_per_second, -point.settings.max_batch_size))


def spread_between(low: int, high: int, *, count: int = 12) -> tuple[int, ...]:
    """At most `count` whole numbers from low to high, evenly spaced by ratio, both ends included."""
    if low >= high or count < 2:  # noqa: PLR2004 - two ends
        return (low,)
    ratio = (high / low) ** (1 / (count - 1))
    return tuple(sorted({round(low * ratio**index) for index in range(count)}))


def _whole(request: CurveRequest, rules: Rules) -> float:
    load = Load(lengths=request.lengths, concurrency=request.concurrency, requests=WHOLE_RUN_REQUESTS)
    return whole_run(rules, request.cost, load).tokens_per_second


def _point(request: CurveRequest, settings: Settings, reading: Reading, whole: float | None) -> CurvePoint:
    return CurvePoint(
        settings=settings,
        concurrency=request.concurrency,
        tokens_per_second=reading.tokens_per_second,
        running_mean=reading.running_mean,
        ttft_ms=reading.ttft_ms.mean or 0.0,
        tpot_ms=reading.tpot_ms.mean or 0.0,
        tpot_p90_ms=reading.tpot_ms.p90 or 0.0,
        preemptions_per_request=reading.preemptions / reading.requests if reading.requests else 0.0,
        whole_run_tokens_per_second=whole,
    )
