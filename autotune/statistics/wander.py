"""Wander: how sure a mean is when the speed wanders slowly, told from the small steps of a short window.

Over a window that is no longer than the wander itself the values lie on one slope of it: their scatter
hides how far the slope may yet lead. Their small steps do not: a speed that will be 3 % off in a minute moves
by 1 % in a few seconds. So the values are read as a mean, a wander (an Ornstein-Uhlenbeck process) and white
noise:

    value i = mean + wander(i) + noise(i),    variance of the wander = q * variance of the noise

Each q of a grid, with each of two time constants, gives the values a likelihood (the mean and the noise's
variance integrated out; Harville, 1974) and the mean of the window a variance. The interval is that of the
mixture, all pairs being as likely as each other beforehand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.statistics.intervals import MeanInterval
from autotune.statistics.student import t_quantile

TIME_CONSTANTS = (20.0, 40.0)
"""Seconds over which the speed of a service forgets where it was."""
_RATIOS = (0.0, *(10.0 ** (exponent * 2 / 3 - 1) for exponent in range(8)))
"""Variance of the wander over that of the noise of a value."""
_FEWEST = 3
_MOST_VALUES = 36
_LONGEST_STEP = 5.0
"""Seconds; longer ones would hide the small steps of the wander."""
_BISECTIONS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hypothesis:
    """One pair of a ratio and a time constant, seen through the values."""

    log_likelihood: float
    deviation: float
    """Standard deviation of the plain mean, as a fraction of it."""


def values_a_group(count: int, seconds: float) -> int:
    """How many of `count` values, `seconds` each, to take together before they are read here."""
    return max(1, min(math.ceil(count / _MOST_VALUES), int(_LONGEST_STEP / seconds)))


def wander_interval(values: Sequence[float], seconds: float, *, confidence: float = 0.95) -> MeanInterval:
    """Interval of the mean of values that are means over `seconds` each, one after the other.

    Raises ValueError for fewer than three values.
    """
    count = len(values)
    if count < _FEWEST:
        raise ValueError("an interval needs at least three values")
    mean = math.fsum(values) / count
    if mean == 0.0 or max(values) == min(values):
        return MeanInterval(mean=mean, half_width=0.0, batches=count, lag1=0.0)
    relative = [value / mean - 1.0 for value in values]
    hypotheses = [
        _judged(relative, ratio, math.exp(-seconds / constant))
        for constant in TIME_CONSTANTS
        for ratio in _RATIOS
    ]
    few = t_quantile(0.5 + confidence / 2.0, count - 1) / t_quantile(0.5 + confidence / 2.0, 1e9)
    half_width = few * _two_sided(hypotheses, 1.0 - confidence) * abs(mean)
    return MeanInterval(mean=mean, half_width=half_width, batches=count, lag1=0.0)


def _judged(relative: Sequence[float], ratio: float, kept: float) -> _Hypothesis:
    """By the Kalman filter: the values and a row of ones go through it together."""
    count = len(relative)
    log_determinant = ones = crossed = squares = 0.0
    of_values = of_ones = 0.0
    spread, fresh = ratio, ratio * (1.0 - kept * kept)
    for value in relative:
        total = spread + 1.0
        gain = spread / total
        error, one = value - of_values, 1.0 - of_ones
        log_determinant += math.log(total)
        ones += one * one / total
        crossed += one * error / total
        squares += error * error / total
        of_values = kept * (of_values + gain * error)
        of_ones = kept * (of_ones + gain * one)
        spread = kept * kept * gain + fresh
    rest = max(squares - crossed * crossed / ones, 1e-300)
    noise = rest / (count - 1)
    return _Hypothesis(
        log_likelihood=-0.5 * (log_determinant + math.log(ones) + (count - 1) * math.log(rest)),
        deviation=math.sqrt(noise * (1.0 + ratio * _inflation(count, kept)) / count),
    )


def _inflation(count: int, kept: float) -> float:
    """Variance of the sum of `count` values of the wander over `count` times that of one."""
    geometric = (1.0 - kept**count) / (1.0 - kept)
    return 1.0 + 2.0 * kept / (1.0 - kept) * (1.0 - geometric / count)


def _two_sided(hypotheses: Sequence[_Hypothesis], outside: float) -> float:
    """Distance that the mixture of normal errors stays within but for a share `outside`."""
    top = max(one.log_likelihood for one in hypotheses)
    weights = [math.exp(one.log_likelihood - top) for one in hypotheses]
    allowed = outside * math.fsum(weights)
    low, high = 0.0, 10.0 * max(one.deviation for one in hypotheses)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        beyond = sum(
            weight * math.erfc(middle / (math.sqrt(2.0) * one.deviation))
            for weight, one in zip(weights, hypotheses, strict=True)
        )
        low, high = (middle, high) if beyond > allowed else (low, middle)
    return high
