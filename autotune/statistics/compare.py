"""Comparison of two settings by their launches: how much faster is the second, and how surely."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.statistics.student import t_quantile

SPREAD_FLOOR = 0.004
"""Launch-to-launch spread that is never undercut: 0.4 %, the smallest that public runs report."""
_PRIOR_DOF = 2.0
"""How many degrees of freedom the stated prior of the spread is worth beside the readings' own."""
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchReading:
    """What one launch read: a speed and half of its own 95 % interval, as a fraction."""

    tokens_per_second: float
    half_width: float

    @property
    def log_error(self) -> float:
        """Standard error of the logarithm of the speed, the launch's own part only."""
        return self.half_width / _NORMAL_95


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Launch-to-launch standard deviation as a fraction, and how well it is known."""

    value: float = SPREAD_FLOOR
    dof: float = _PRIOR_DOF


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Gain of the second side over the first, as fractions; each bound holds by itself (one-sided)."""

    gain: float
    low: float
    high: float

    @property
    def better(self) -> bool:
        """The second side is surely faster."""
        return self.low > 0.0

    @property
    def worse(self) -> bool:
        """The second side is surely slower."""
        return self.high < 0.0

    def not_worse(self, margin: float) -> bool:
        """The second side is surely less than `margin` slower."""
        return self.low > -margin

    def equivalent(self, margin: float) -> bool:
        """The two differ surely by less than `margin` either way (two one-sided tests)."""
        return self.low > -margin and self.high < margin


def launch_spread(sides: Sequence[Sequence[LaunchReading]], *, prior: float = SPREAD_FLOOR) -> Spread:
    """Launch-to-launch spread from repeated launches of the same settings, never below the prior.

    What the scatter within the sides exceeds the launches' own errors by, pooled with the prior
    (`_PRIOR_DOF` degrees of freedom at `prior`).
    """
    squares = own = 0.0
    dof = 0
    for side in sides:
        dof_of_side = len(side) - 1
        if dof_of_side < 1:
            continue
        logs = [math.log(reading.tokens_per_second) for reading in side]
        mean = math.fsum(logs) / len(logs)
        squares += math.fsum((value - mean) ** 2 for value in logs)
        own += math.fsum(reading.log_error**2 for reading in side) * dof_of_side / len(side)
        dof += dof_of_side
    excess = max(0.0, squares - own)
    pooled = (_PRIOR_DOF * prior**2 + excess) / (_PRIOR_DOF + dof)
    return Spread(value=max(prior, math.sqrt(pooled)), dof=_PRIOR_DOF + dof)


def compare(
    first: Sequence[LaunchReading],
    second: Sequence[LaunchReading],
    *,
    confidence: float = 0.95,
    spread: Spread | None = None,
) -> Comparison:
    """Gain of `second` over `first` from the mean log ratio, with one-sided bounds at `confidence`.

    Every launch counts alike. Its variance is its own error plus the launch-to-launch spread (estimated
    from the two sides unless given); the t quantile has Satterthwaite's degrees of freedom.
    Raises ValueError when a side is empty or a speed is not positive.
    """
    if not first or not second:
        raise ValueError("a comparison needs a launch on each side")
    if min(reading.tokens_per_second for reading in (*first, *second)) <= 0.0:
        raise ValueError("a comparison needs positive speeds")
    known = spread or launch_spread((first, second))
    variance = uncertain = 0.0
    for side in (first, second):
        own = math.fsum(reading.log_error**2 for reading in side) / len(side) ** 2
        between = known.value**2 / len(side)
        variance += own + between
        uncertain += between
    difference = _mean_log(second) - _mean_log(first)
    dof = known.dof * (variance / uncertain) ** 2 if uncertain > 0.0 else math.inf
    reach = t_quantile(confidence, dof) * math.sqrt(variance)
    return Comparison(
        gain=math.expm1(difference), low=math.expm1(difference - reach), high=math.expm1(difference + reach)
    )


def mean_reading(side: Sequence[LaunchReading], *, spread: Spread | None = None) -> LaunchReading:
    """One reading for all launches of a setting; its half-width holds the launch-to-launch spread too.

    Raises ValueError when there is no launch.
    """
    if not side:
        raise ValueError("no launch to take a mean of")
    known = spread or launch_spread((side,))
    own = math.fsum(reading.log_error**2 for reading in side) / len(side) ** 2
    error = math.sqrt(own + known.value**2 / len(side))
    return LaunchReading(tokens_per_second=math.exp(_mean_log(side)), half_width=_NORMAL_95 * error)


def _mean_log(side: Sequence[LaunchReading]) -> float:
    return math.fsum(math.log(reading.tokens_per_second) for reading in side) / len(side)
