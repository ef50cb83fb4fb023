"""Drift: how far tonight's reading of a setting lies from where its earlier nights were."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.statistics.compare import SPREAD_FLOOR, LaunchReading, Spread
from autotune.statistics.student import t_quantile

Night = tuple[LaunchReading, ...]
"""The readings of one setting in one night, one a launch."""
PRIOR_SPREAD = 0.015
PRIOR_DOF = 2.0
"""What is assumed of the launch-to-launch spread before anything was launched twice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Departure:
    """How far a night lies from the earlier ones."""

    change: float
    """Fraction of the earlier level; negative is slower."""
    deviations: float
    """The same in standard deviations of such a difference."""
    limit: float
    """How many of them chance alone may give, both ways."""

    @property
    def outside(self) -> bool:
        """It is not chance."""
        return abs(self.deviations) > self.limit

    @property
    def slower(self) -> bool:
        """It is not chance, and slower."""
        return self.deviations < -self.limit

    @property
    def faster(self) -> bool:
        """It is not chance, and faster."""
        return self.deviations > self.limit


def pooled_spread(groups: Sequence[Sequence[LaunchReading]]) -> Spread:
    """Launch-to-launch spread from launches of one setting in one night, over all nights and settings.

    Pooled with a stated prior that is worth `PRIOR_DOF` degrees of freedom; never below the smallest
    spread that public runs report. The readings' own errors are part of the scatter and stay in it.
    """
    squares, dof = PRIOR_DOF * PRIOR_SPREAD**2, PRIOR_DOF
    for group in groups:
        logs = [math.log(reading.tokens_per_second) for reading in group]
        mean = math.fsum(logs) / len(logs) if logs else 0.0
        squares += math.fsum((value - mean) ** 2 for value in logs)
        dof += max(0, len(logs) - 1)
    return Spread(value=max(SPREAD_FLOOR, math.sqrt(squares / dof)), dof=dof)


def departure(
    nights: Sequence[Night], tonight: Night, *, spread: Spread, confidence: float
) -> Departure | None:
    """Hold tonight's mean against the mean of the earlier nights; None without either.

    The variance of the difference is that of a prediction: tonight's launches, the night itself where
    earlier nights differ by more than their launches explain, and what the earlier mean is off by. The
    limit is the two-sided t quantile at `confidence`.
    """
    earlier = [night for night in nights if night]
    if not earlier or not tonight:
        return None
    means = [mean_log(night) for night in earlier]
    level = math.fsum(means) / len(means)
    of_means = math.fsum(spread.value**2 / len(night) for night in earlier) / len(earlier)
    between = max(0.0, _variance(means) - of_means) if len(means) > 1 else 0.0
    variance = spread.value**2 / len(tonight) + between + (of_means + between) / len(earlier)
    difference = mean_log(tonight) - level
    return Departure(
        change=math.expm1(difference),
        deviations=difference / math.sqrt(variance),
        limit=t_quantile(0.5 + confidence / 2.0, spread.dof),
    )


def mean_log(night: Sequence[LaunchReading]) -> float:
    """Mean logarithm of the speeds. Raises ZeroDivisionError when there is none."""
    return math.fsum(math.log(reading.tokens_per_second) for reading in night) / len(night)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
