"""Distributions: mean and percentiles of latencies, each only where enough samples carry it."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from autotune.load.client.gaps import GapSlice, seconds_of_class
from autotune.model.measurement import Distribution
from autotune.units import MILLISECONDS_PER_SECOND

_SHARES = {"p50": 0.50, "p75": 0.75, "p90": 0.90, "p99": 0.99}


def enough(samples: int, share: float) -> bool:
    """A percentile needs at least one sample beyond it."""
    return samples * (1.0 - share) >= 1.0 - 1e-9


def of_seconds(seconds: Iterable[float], *, scale: float = 1.0) -> Distribution:
    """Of single values; percentiles by linear interpolation (Hyndman and Fan, type 7). In milliseconds."""
    values = sorted(seconds)
    if not values:
        return Distribution()
    factor = MILLISECONDS_PER_SECOND * scale
    points = {
        name: factor * _interpolated(values, share) if enough(len(values), share) else None
        for name, share in _SHARES.items()
    }
    return Distribution(mean=factor * math.fsum(values) / len(values), **points)


def of_gaps(slices: Sequence[GapSlice], *, scale: float = 1.0) -> Distribution:
    """Of event gaps that were folded into classes at most 0.4 % wide. In milliseconds."""
    classes: Counter[int] = Counter()
    for part in slices:
        classes.update(part.classes)
    zero = sum(part.zero for part in slices)
    count = zero + sum(classes.values())
    if not count:
        return Distribution()
    factor = MILLISECONDS_PER_SECOND * scale
    ordered = sorted(classes.items())
    points = {
        name: factor * _in_classes(ordered, zero, share * (count - 1)) if enough(count, share) else None
        for name, share in _SHARES.items()
    }
    return Distribution(mean=factor * math.fsum(part.total for part in slices) / count, **points)


def _interpolated(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _in_classes(ordered: Sequence[tuple[int, int]], zero: int, place: float) -> float:
    seen = float(zero)
    if place < seen:
        return 0.0
    for number, count in ordered:
        seen += count
        if place < seen:
            return seconds_of_class(number)
    return seconds_of_class(ordered[-1][0])
