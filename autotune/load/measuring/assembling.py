"""Assembling: from the tally of a test and its steady span to a reading."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from autotune.load.client.recorder import Bucket, Columns
from autotune.load.client.tally import Tally
from autotune.load.measuring.distribution import of_gaps, of_seconds
from autotune.load.measuring.goodput import goodput, over_limits
from autotune.load.measuring.reading import Fault, Reading
from autotune.load.measuring.span import Span
from autotune.model.limit import Limit
from autotune.model.measurement import Distribution, FailureCount

_FEWEST_SLICES = 1
"""With fewer slices of gaps in the steady span, those of the whole test are taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Edges:
    """The steady span in seconds of the host's clock."""

    begin: float
    end: float


@dataclass(frozen=True, kw_only=True, slots=True)
class _Latencies:
    """The four latencies in milliseconds of the service's clock."""

    ttft: Distribution
    event_gap: Distribution
    tpot: Distribution
    e2e: Distribution


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """How a tally is to be read."""

    concurrency: int | None
    """None in open loop, where what was reached stands for it."""
    time_scale: float
    streaming: bool
    whole_test_latencies: bool
    """Latencies of all replies, not only of those in the steady span: for a fixed number of requests."""
    from_schedule: bool
    """Open loop: latencies count from when a request was due."""
    tokens_an_event: float = 1.0
    limits: tuple[Limit, ...] = ()
    """Latency limits that goodput is counted by."""
    fed_factor: float | None = None
    """Tokens an event that the span's speed was read with."""


def assembled(tally: Tally, span: Span, frame: Frame, fault: Fault | None) -> Reading:
    """Every number of the test."""
    columns, scale = tally.columns, frame.time_scale
    factor = tokens_an_event(columns, default=frame.tokens_an_event)
    correction = factor / frame.fed_factor if frame.fed_factor else 1.0
    good = [row for row in range(len(columns.end)) if not columns.short[row]]
    edges = _edges(tally, span)
    window = tally.buckets[span.begin : span.end]
    inside = [row for row in good if edges.begin <= columns.end[row] <= edges.end]
    ended = good if frame.whole_test_latencies or not inside else inside
    latencies = _latencies(tally, frame, edges, good, ended, factor)
    completed_tokens = math.fsum(_tokens(columns, good, factor))
    return Reading(
        concurrency=_reached(window, tally) if frame.concurrency is None else frame.concurrency,
        tokens_per_second=span.rate * correction / scale if span.rate is not None else None,
        half_width=span.half_width,
        whole_run_tokens_per_second=_whole_run(tally, good, completed_tokens, scale),
        seconds=span.seconds * scale,
        test_seconds=(tally.ended - tally.started) * scale,
        requests=len(columns.end) + sum(tally.failed.values()),
        completed=len(good),
        failed=tuple(FailureCount(cause=name, count=tally.failed[name]) for name in sorted(tally.failed)),
        details=tuple(f"{name}: {tally.details.get(name, '')}" for name in sorted(tally.failed)),
        short_replies=sum(columns.short),
        ttft_ms=latencies.ttft,
        event_gap_ms=latencies.event_gap,
        tpot_ms=latencies.tpot,
        e2e_ms=latencies.e2e,
        events=tally.events,
        reads=tally.events - sum(one.zero for one in tally.gaps),
        output_tokens=_all_tokens(tally, factor),
        input_tokens=sum(count for count in columns.prompt_tokens if count > 0),
        mean_output_tokens=math.fsum(_tokens(columns, ended, factor)) / len(ended) if ended else None,
        concurrency_reached=_reached(window, tally),
        running_mean=_mean(one.seen_running(streaming=frame.streaming) for one in window),
        batch_means=tuple(mean * correction / scale for mean in span.batch_means),
        capped=span.capped,
        health=replace(tally.health, send_delay_mean=_send_delay(columns)),
        goodput=goodput(
            columns, inside, requests=len(inside) + _lost(tally, window), limits=frame.limits, scale=scale
        ),
        over_limits=over_limits(columns, inside, limits=frame.limits, scale=scale),
        little_residual=_little(tally, window, inside),
        fault=fault,
    )


def _latencies(
    tally: Tally, frame: Frame, edges: _Edges, good: list[int], ended: list[int], factor: float
) -> _Latencies:
    """In the steady span, or of the whole test where it has a fixed number of requests or the span none."""
    columns, scale = tally.columns, frame.time_scale
    everything = frame.whole_test_latencies
    begun = [row for row in good if edges.begin <= columns.first[row] <= edges.end]
    firsts = good if everything or not begun else begun
    slices = [one for one in tally.gaps if edges.begin <= one.start < edges.end]
    if everything or len(slices) < _FEWEST_SLICES:
        slices = tally.gaps
    origin = columns.scheduled if frame.from_schedule else columns.sent
    waits = (columns.first[row] - origin[row] for row in firsts if not math.isnan(columns.first[row]))
    return _Latencies(
        ttft=of_seconds(waits, scale=scale),
        event_gap=of_gaps(slices, scale=scale),
        tpot=of_seconds(_per_token(columns, ended, factor), scale=scale),
        e2e=of_seconds((columns.end[row] - origin[row] for row in ended), scale=scale),
    )


def _whole_run(tally: Tally, good: list[int], tokens: float, scale: float) -> float | None:
    """Tokens of the finished requests over first request to last reply."""
    last = max((tally.columns.end[row] for row in good), default=tally.started)
    seconds = (last - tally.started) * scale
    return tokens / seconds if seconds > 0 else None


def tokens_an_event(columns: Columns, *, default: float) -> float:
    """From all replies whose server told its count."""
    told = [row for row in range(len(columns.end)) if columns.tokens[row] >= 0 and columns.events[row] > 0]
    events = sum(columns.events[row] for row in told)
    return sum(columns.tokens[row] for row in told) / events if events else default


def _edges(tally: Tally, span: Span) -> _Edges:
    if not tally.buckets or span.end <= span.begin:
        return _Edges(begin=tally.started, end=tally.ended)
    width = tally.buckets[1].start - tally.buckets[0].start if len(tally.buckets) > 1 else 0.0
    return _Edges(begin=tally.buckets[span.begin].start, end=tally.buckets[span.end - 1].start + width)


def _tokens(columns: Columns, rows: list[int], factor: float) -> Iterator[float]:
    for row in rows:
        told = columns.tokens[row]
        yield told if told >= 0 else columns.events[row] * factor


def _all_tokens(tally: Tally, factor: float) -> int:
    """Told counts where there are any, else events; replies that failed or were left count what came."""
    columns = tally.columns
    rows = list(range(len(columns.end)))
    ended = math.fsum(_tokens(columns, rows, factor))
    other_events = tally.events - sum(columns.events)
    return round(ended + other_events * factor)


def _per_token(columns: Columns, rows: list[int], factor: float) -> Iterator[float]:
    for row in rows:
        told = columns.tokens[row]
        tokens = told if told >= 0 else columns.events[row] * factor
        if tokens > 1 and columns.events[row] > 1:
            yield (columns.last[row] - columns.first[row]) / (tokens - 1)


def _reached(window: list[Bucket], tally: Tally) -> int:
    mean = _mean(one.in_flight for one in window)
    return round(mean) if mean is not None else tally.peak_in_flight


def _mean(values: Iterator[int]) -> float | None:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else None


def _lost(tally: Tally, window: list[Bucket]) -> int:
    """Requests of the steady span that have no good reply."""
    short = sum(tally.columns.short) * len(window) // max(1, len(tally.buckets))
    return sum(bucket.failures for bucket in window) + short


def _send_delay(columns: Columns) -> float:
    count = len(columns.sent)
    return (math.fsum(columns.sent) - math.fsum(columns.scheduled)) / count if count else 0.0


def _little(tally: Tally, window: list[Bucket], inside: list[int]) -> float | None:
    """Little's law: requests in the system = rate x time in the system; None with too few replies."""
    mean = _mean(one.in_flight for one in window)
    if not mean or len(inside) < max(30, 4 * mean):
        return None
    width = tally.buckets[1].start - tally.buckets[0].start
    columns = tally.columns
    stay = math.fsum(columns.end[row] - columns.scheduled[row] for row in inside)
    return abs(stay / (len(window) * width) - mean) / mean
