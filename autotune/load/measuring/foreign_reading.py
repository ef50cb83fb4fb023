"""Another tool's reading: judged by its own counts, and turned into a Measurement without any guess."""

from collections.abc import Sequence
from dataclasses import replace

from autotune.load.measuring.reading import Fault
from autotune.load.measuring.tolerance import Tolerance
from autotune.load.sources.reading import BenchmarkReading
from autotune.model.measurement import Distribution, FailureCount, InvalidReason, Measurement

_MOST_DRIFT = 0.25
_REACHED_SHARE = 0.5
"""Mean requests at once over the whole run, ramp and drain included, that must have been reached."""


def fault_of(
    reading: BenchmarkReading, concurrency: int | None, tolerance: Tolerance, usual_tokens: float | None
) -> Fault | None:
    """The first check that fails; what the tool does not say is not checked. None of open loop is clients."""
    if reading.failed > tolerance.failed * max(1, reading.requests):
        detail = f"{reading.tool}: {reading.failed} of {reading.requests} requests failed"
        return Fault(reason=InvalidReason.REQUESTS_FAILED, detail=detail)
    if concurrency is not None and 0 < reading.requests < concurrency:
        detail = f"{reading.tool}: {reading.requests} requests can't keep {concurrency} clients busy"
        return Fault(reason=InvalidReason.CONCURRENCY_NOT_REACHED, detail=detail)
    reached = reading.concurrency_reached
    if concurrency is not None and reached is not None and reached < _REACHED_SHARE * concurrency:
        detail = f"{reading.tool}: {reached:.0f} of {concurrency} requests were on their way in the mean"
        return Fault(reason=InvalidReason.CONCURRENCY_NOT_REACHED, detail=detail)
    tokens = reading.mean_output_tokens
    if tokens and usual_tokens and abs(tokens - usual_tokens) > _MOST_DRIFT * usual_tokens:
        detail = (
            f"replies have {tokens:.0f} tokens in the mean, those of the first level had {usual_tokens:.0f}"
        )
        return Fault(reason=InvalidReason.TOKEN_DRIFT, detail=detail)
    return None


def in_service_time(reading: BenchmarkReading, scale: float) -> BenchmarkReading:
    """Figures of the host's clock in that of an emulated service, which runs `scale` times faster."""
    if scale == 1.0:
        return reading
    return replace(
        reading,
        output_tokens_per_second=reading.output_tokens_per_second / scale,
        total_tokens_per_second=_divided(reading.total_tokens_per_second, scale),
        requests_per_second=_divided(reading.requests_per_second, scale),
        seconds=None if reading.seconds is None else reading.seconds * scale,
        ttft_ms=_times(reading.ttft_ms, scale),
        tpot_ms=_times(reading.tpot_ms, scale),
        event_gap_ms=_times(reading.event_gap_ms, scale),
        e2e_ms=_times(reading.e2e_ms, scale),
    )


def measurement_of(
    readings: Sequence[BenchmarkReading],
    *,
    concurrency: int,
    half_width: float,
    assumed: bool,
    seconds: float,
    preemptions: int | None,
    running_mean: float | None,
) -> Measurement:
    """The mean speed of the runs; their counts added up; the latencies of the last one.

    `seconds` of the service's clock stand for runs whose tool does not tell their length.
    """
    last = readings[-1]
    failed = sum(one.failed for one in readings)
    speed = sum(one.output_tokens_per_second for one in readings) / len(readings)
    told = [one.seconds for one in readings if one.seconds is not None]
    return Measurement(
        concurrency=concurrency,
        tokens_per_second=speed,
        half_width=half_width,
        whole_run_tokens_per_second=speed,
        seconds=sum(told) if len(told) == len(readings) else seconds,
        requests=sum(one.requests for one in readings),
        completed=sum(max(0, one.completed) for one in readings),
        failed=(FailureCount(cause=last.tool, count=failed),) if failed else (),
        ttft_ms=last.ttft_ms,
        event_gap_ms=last.event_gap_ms,
        tpot_ms=last.tpot_ms,
        e2e_ms=last.e2e_ms,
        output_tokens=sum(one.output_tokens or 0 for one in readings),
        input_tokens=sum(one.input_tokens or 0 for one in readings),
        mean_output_tokens=_mean_tokens(last),
        concurrency_reached=round(last.concurrency_reached or 0),
        preemptions=preemptions,
        running_mean=running_mean,
        batch_means=tuple(one.output_tokens_per_second for one in readings) if not assumed else (),
        assumed_noise=assumed,
    )


def _mean_tokens(reading: BenchmarkReading) -> float | None:
    if reading.mean_output_tokens is not None:
        return reading.mean_output_tokens
    if reading.output_tokens is not None and reading.completed > 0:
        return reading.output_tokens / reading.completed
    return None


def _divided(value: float | None, scale: float) -> float | None:
    return None if value is None else value / scale


def _times(values: Distribution, scale: float) -> Distribution:
    def scaled(value: float | None) -> float | None:
        return None if value is None else value * scale

    return Distribution(
        mean=scaled(values.mean),
        p50=scaled(values.p50),
        p75=scaled(values.p75),
        p90=scaled(values.p90),
        p99=scaled(values.p99),
    )
