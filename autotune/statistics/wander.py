"""Wander: how sure a mean is when the speed wanders slowly, told from the small steps of a short window.

Over a window that is no longer than the wander itself the values lie on one slope of it: their scatter
hides how far the slope may yet lead. Their small steps do not: a speed that will be 3 % off in a minute moves
by 1 % in a few seconds. So the values are read as a mean, a wander (an Ornstein-Uhlenbeck process) and white
noise:

    value i = mean + wander(i) + noise(i) + theta * noise(i - 1)

The wander's variance is q times that of the noise. Theta is 0, or -0.9 where tokens come in steps of a whole
batch: a step that one value just misses falls to the next one. Each q of a grid, with each theta and each of
two time constants, gives the values a likelihood (the mean and the noise's variance integrated out; Harville,
1974) and the mean of the window a variance. The interval is that of the mixture, all of them being as likely
as each other beforehand but for the size of the wander: that is taken to be normal with a deviation of 5 % of
the speed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.statistics.intervals import MeanInterval
from autotune.statistics.student import t_quantile

_TIME_CONSTANTS = (20.0, 40.0)
"""Seconds over which the speed of a service forgets where it was."""
_THETAS = (0.0, -0.9)
_USUAL_WANDER = 0.05
"""Standard deviation, a share of the speed, beyond which a wander is ever less likely beforehand: a short
window of lumpy values could not rule it out."""
_RATIOS = (0.0, *(10.0 ** (exponent * 2 / 3 - 1) for exponent in range(8)))
"""Variance of the wander over that of the noise of a value."""
_FEWEST = 3
_MOST_VALUES = 24
_LONGEST_STEP = 5.0
"""Seconds; longer ones would hide the small steps of the wander."""
_BISECTIONS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hypothesis:
    """What the speed may be like."""

    ratio: float
    theta: float
    constant: float
    """Seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Verdict:
    """A hypothesis seen through the values."""

    log_likelihood: float
    deviation: float
    """Standard deviation of the plain mean, as a fraction of it."""


_HYPOTHESES = tuple(
    _Hypothesis(ratio=ratio, theta=theta, constant=constant)
    for constant in _TIME_CONSTANTS
    for theta in _THETAS
    for ratio in _RATIOS
)


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
    verdicts = [_judged(relative, hypothesis, seconds) for hypothesis in _HYPOTHESES]
    few = t_quantile(0.5 + confidence / 2.0, count - 1) / t_quantile(0.5 + confidence / 2.0, 1e9)
    half_width = few * _two_sided(verdicts, 1.0 - confidence) * abs(mean)
    return MeanInterval(mean=mean, half_width=half_width, batches=count, lag1=0.0)


def _judged(relative: Sequence[float], hypothesis: _Hypothesis, seconds: float) -> _Verdict:
    """By the Kalman filter: the values and a row of ones go through it together.

    Its state is the wander and the last noise; `own`, `noise` and `both` are their variances and covariance.
    """
    ratio, theta = hypothesis.ratio, hypothesis.theta
    kept = math.exp(-seconds / hypothesis.constant)
    count = len(relative)
    log_determinant = ones = crossed = squares = 0.0
    of_values = of_ones = last_of_values = last_of_ones = 0.0
    own, noise, both, fresh = ratio, abs(theta) and 1.0, 0.0, ratio * (1.0 - kept * kept)
    for value in relative:
        share = own + theta * both
        total = share + theta * (both + theta * noise) + 1.0
        error = (value - of_values - theta * last_of_values) / total
        one = (1.0 - of_ones - theta * last_of_ones) / total
        log_determinant += math.log(total)
        ones += one * one * total
        crossed += one * error * total
        squares += error * error * total
        of_values, last_of_values = kept * (of_values + share * error), error
        of_ones, last_of_ones = kept * (of_ones + share * one), one
        own = kept * kept * (own - share * share / total) + fresh
        noise, both = 1.0 - 1.0 / total, -kept * share / total
    rest = max(squares - crossed * crossed / ones, 1e-300)
    white = ((1.0 + theta) ** 2 * (count - 1) + 1.0 + theta * theta) / count
    scatter = rest / (count - 1)
    variance = scatter * (white + ratio * _inflation(count, kept)) / count
    likely = -0.5 * (log_determinant + math.log(ones) + (count - 1) * math.log(rest))
    return _Verdict(
        log_likelihood=likely - 0.5 * ratio * scatter / _USUAL_WANDER**2,
        deviation=math.sqrt(variance),
    )


def _inflation(count: int, kept: float) -> float:
    """Variance of the sum of `count` values of the wander over `count` times that of one."""
    geometric = (1.0 - kept**count) / (1.0 - kept)
    return 1.0 + 2.0 * kept / (1.0 - kept) * (1.0 - geometric / count)


def _two_sided(verdicts: Sequence[_Verdict], outside: float) -> float:
    """Distance that the mixture of normal errors stays within but for a share `outside`."""
    top = max(one.log_likelihood for one in verdicts)
    weights = [math.exp(one.log_likelihood - top) for one in verdicts]
    allowed = outside * math.fsum(weights)
    low, high = 0.0, 10.0 * max(one.deviation for one in verdicts)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        beyond = sum(
            weight * math.erfc(middle / (math.sqrt(2.0) * one.deviation))
            for weight, one in zip(weights, verdicts, strict=True)
        )
        low, high = (middle, high) if beyond > allowed else (low, middle)
    return high
