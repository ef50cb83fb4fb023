"""Sequential test of a gain: it takes only as many launches as the evidence needs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, unique

from autotune.statistics.compare import LaunchReading, Spread
from autotune.statistics.drift import mean_log
from autotune.statistics.student import t_quantile

FALSE_GAIN = 0.004
"""Chance to call a gain that is not there: 99.6 % confidence."""
MISSED_GAIN = 0.05
"""Chance to miss a gain of `WORTH`."""
WORTH = 0.04
"""The gain that the test is made to find, a fraction."""


@unique
class Answer(Enum):
    """What the readings so far say."""

    FASTER = "faster"
    NOT_FASTER = "not faster"
    OPEN = "open"


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The answer, with the gain as it stands and the log of the likelihood ratio."""

    answer: Answer
    gain: float
    log_ratio: float
    upper: float
    lower: float


def weigh(first: Sequence[LaunchReading], second: Sequence[LaunchReading], *, spread: Spread) -> Evidence:
    """Wald's sequential probability ratio test of the mean log ratio: 0 against a gain of `WORTH`.

    The difference of two means with known variance is a random walk in the information 1 / variance,
    so that looking after every launch keeps the error rates (Wald, 1945). A spread that is known from few
    launches is widened as far as its t quantile lies above the normal one.
    Raises ValueError when a side is empty.
    """
    if not first or not second:
        raise ValueError("a comparison needs a launch on each side")
    tail = 1.0 - FALSE_GAIN
    widened = spread.value * t_quantile(tail, spread.dof) / t_quantile(tail, math.inf)
    variance = widened**2 * (1.0 / len(first) + 1.0 / len(second))
    difference, worth = mean_log(second) - mean_log(first), math.log1p(WORTH)
    ratio = (worth * difference - worth**2 / 2.0) / variance
    upper, lower = math.log((1.0 - MISSED_GAIN) / FALSE_GAIN), math.log(MISSED_GAIN / (1.0 - FALSE_GAIN))
    answer = Answer.FASTER if ratio >= upper else Answer.NOT_FASTER if ratio <= lower else Answer.OPEN
    return Evidence(answer=answer, gain=math.expm1(difference), log_ratio=ratio, upper=upper, lower=lower)
