"""Intervals of a mean from the batch means of one autocorrelated series."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from autotune.statistics.student import t_quantile

_FEWEST = 2
_MERGE_ABOVE = 0.2
_MERGE_FROM = 16
_LARGEST_LAG1 = 0.9


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanInterval:
    """A mean and its two-sided interval, with what it was made from."""

    mean: float
    half_width: float
    """In the unit of the mean."""
    batches: int
    """How many batch means were left after merging."""
    lag1: float
    """Their lag-1 autocorrelation, corrected for its bias on short series."""

    @property
    def relative(self) -> float:
        """half_width as a fraction of the mean; infinite when the mean is 0."""
        return self.half_width / abs(self.mean) if self.mean else math.inf


def lag1_correlation(values: Sequence[float]) -> float:
    """Lag-1 autocorrelation, its first-order bias (1 + 3 rho) / n added back (Marriott and Pope, 1954)."""
    n = len(values)
    mean = math.fsum(values) / n
    deviations = [value - mean for value in values]
    squares = math.fsum(deviation * deviation for deviation in deviations)
    if squares <= 0.0:
        return 0.0
    products = math.fsum(a * b for a, b in pairwise(deviations))
    raw = products / squares
    return max(-1.0, min(1.0, raw + (1.0 + 3.0 * raw) / n))


def merged(values: Sequence[float]) -> list[float]:
    """Means of neighbouring pairs; an odd first value is left out, as it is nearest to the start."""
    kept = values[len(values) % 2 :]
    return [0.5 * (a + b) for a, b in zip(kept[::2], kept[1::2], strict=True)]


def batch_means_interval(batch_means: Sequence[float], *, confidence: float = 0.95) -> MeanInterval:
    """Interval of the mean of equally long batches of one series.

    Pairs are merged while neighbours correlate by more than 0.2 and at least 16 batches are there;
    what correlation is left widens the interval by sqrt((1 + rho) / (1 - rho)).
    Raises ValueError for fewer than two batches.
    """
    if len(batch_means) < _FEWEST:
        raise ValueError("an interval needs at least two batches")
    values = list(batch_means)
    lag1 = lag1_correlation(values)
    while len(values) >= _MERGE_FROM and lag1 > _MERGE_ABOVE:
        values = merged(values)
        lag1 = lag1_correlation(values)
    n = len(values)
    mean = math.fsum(values) / n
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    rho = min(max(lag1, 0.0), _LARGEST_LAG1)
    inflation = math.sqrt((1.0 + rho) / (1.0 - rho))
    quantile = t_quantile(0.5 + confidence / 2.0, n - 1)
    return MeanInterval(
        mean=mean, half_width=quantile * inflation * math.sqrt(variance / n), batches=n, lag1=lag1
    )
