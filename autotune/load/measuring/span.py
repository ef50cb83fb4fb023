"""Span: the steady part of a test, and how sure its speed is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from autotune.load.client.recorder import Bucket
from autotune.statistics.wander import values_a_group, wander_interval

_PLATEAU_SHARE = 0.95
_FEWEST_BUCKETS = 5
"""A shorter plateau gives no speed: its ends would decide."""
_MOST_BATCHES = 10
_FEWEST_BATCHES = 4
_SETTLE_SHARE = 0.5
"""At most this share of the plateau is given away to let the first wave settle."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Buckets from `begin` to before `end`, and the speed in them. Seconds of the host's clock."""

    begin: int
    end: int
    seconds: float
    rate: float | None
    """Tokens a second, by the factor the buckets were read with."""
    half_width: float | None
    batch_means: tuple[float, ...] = ()
    capped: bool = False


def plateau(
    buckets: Sequence[Bucket], *, factor: float, width: float, streaming: bool, scale: float = 1.0
) -> Span:
    """The steady part of a test that sends a fixed number of requests: between ramp and drain.

    It lasts while at least 95 % of the usual number of requests run. Of what is left, up to two residence
    times, but never more than half, are dropped so that the wave of the start can die down. `scale` is how
    much faster than its own clock the service runs.
    """
    counts = [bucket.seen_running(streaming=streaming) for bucket in buckets]
    if not counts or max(counts) == 0:
        return Span(begin=0, end=len(counts), seconds=0.0, rate=None, half_width=None)
    level = _PLATEAU_SHARE * _usual(counts)
    at_level = [index for index, count in enumerate(counts) if count >= level]
    begin, end = at_level[0], at_level[-1] + 1
    begin = min(begin + 1, end - 1)
    part = buckets[begin:end]
    settle = min(2.0 * _residence(part, width, streaming=streaming), _SETTLE_SHARE * len(part) * width)
    if len(part) * width - settle >= _FEWEST_BATCHES * settle:
        begin += round(settle / width)
    return _with_interval(buckets, begin, end, factor=factor, width=width, scale=scale)


def _with_interval(
    buckets: Sequence[Bucket], begin: int, end: int, *, factor: float, width: float, scale: float
) -> Span:
    tokens = [bucket.events * factor + bucket.whole_tokens for bucket in buckets[begin:end]]
    seconds = len(tokens) * width
    rate = math.fsum(tokens) / seconds if len(tokens) >= _FEWEST_BUCKETS else None
    batches = min(_MOST_BATCHES, len(tokens) // 2)
    if not rate or batches < _FEWEST_BATCHES:
        return Span(begin=begin, end=end, seconds=seconds, rate=rate or None, half_width=None)
    edges = [round(index * len(tokens) / batches) for index in range(batches + 1)]
    means = tuple(math.fsum(tokens[low:high]) / ((high - low) * width) for low, high in pairwise(edges))
    return Span(
        begin=begin,
        end=end,
        seconds=seconds,
        rate=rate,
        half_width=_half_width(tokens, width * scale),
        batch_means=means,
    )


def _half_width(tokens: Sequence[float], seconds: float) -> float:
    """A fraction; `seconds` are those of one bucket, by the service's clock."""
    group = values_a_group(len(tokens), seconds)
    count = len(tokens) // group
    first = len(tokens) - count * group
    sums = [math.fsum(tokens[at : at + group]) for at in range(first, len(tokens), group)]
    return wander_interval(sums, group * seconds).relative


def _usual(counts: Sequence[int]) -> float:
    """Near the top, but no single peak."""
    ordered = sorted(counts)
    return ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]


def _residence(buckets: Sequence[Bucket], width: float, *, streaming: bool) -> float:
    completions = sum(bucket.completions for bucket in buckets)
    if not completions:
        return math.inf
    return sum(bucket.seen_running(streaming=streaming) for bucket in buckets) * width / completions
