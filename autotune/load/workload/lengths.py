"""Lengths: how many tokens go in and come out, by distribution, drawn from a given random source."""

import math
import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

_SPREAD = 0.5
"""Sigma of the logarithm of output lengths; question-answer sets lie near it."""


class Lengths(Protocol):
    """A distribution of token counts."""

    def draw(self, source: random.Random) -> int:
        """One length, at least 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fixed:
    """Always the same."""

    tokens: int

    def draw(self, source: random.Random) -> int:
        """The one length there is."""
        del source
        return self.tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Uniform:
    """Every length from low to high is as likely as any other."""

    low: int
    high: int

    def draw(self, source: random.Random) -> int:
        """A whole number, both ends included."""
        return source.randint(self.low, self.high)


@dataclass(frozen=True, kw_only=True, slots=True)
class Gaussian:
    """Normal with mean and variance, clipped to low and high."""

    mean: float
    variance: float
    low: int
    high: int

    def draw(self, source: random.Random) -> int:
        """A whole number within low and high."""
        return _clipped(source.gauss(self.mean, math.sqrt(self.variance)), self.low, self.high)


@dataclass(frozen=True, kw_only=True, slots=True)
class Zipf:
    """P(length = low + k - 1) falls as k to the power of -alpha, cut at high."""

    alpha: float
    low: int
    high: int

    def draw(self, source: random.Random) -> int:
        """A whole number within low and high, by inversion of the continuous law."""
        span = self.high - self.low + 1
        u = source.random()
        if math.isclose(self.alpha, 1.0):
            rank = math.exp(u * math.log(span + 1.0))
        else:
            power = 1.0 - self.alpha
            rank = (1.0 + u * ((span + 1.0) ** power - 1.0)) ** (1.0 / power)
        return _clipped(math.floor(rank) + self.low - 1, self.low, self.high)


@dataclass(frozen=True, kw_only=True, slots=True)
class CappedLogNormal:
    """Right-skewed lengths with a given mean after clipping to low and high, as natural answers have."""

    mu: float
    sigma: float
    low: int
    high: int

    def draw(self, source: random.Random) -> int:
        """A whole number within low and high."""
        return _clipped(math.exp(source.gauss(self.mu, self.sigma)), self.low, self.high)


def natural(mean: float, *, low: int, high: int) -> Lengths:
    """Lengths with this mean whose longest is `high`: log-normal, clipped, its centre found by bisection.

    Raises ValueError when low <= mean <= high does not hold.
    """
    if not 1 <= low <= mean <= high:
        raise ValueError(f"lengths need 1 <= min {low} <= mean {mean:g} <= max {high}")
    if low == high:
        return Fixed(tokens=low)
    below, above = math.log(0.01 * low), math.log(100.0 * high)
    for _ in range(40):
        middle = 0.5 * (below + above)
        reached = _clipped_mean(middle, low, high)
        below, above = (middle, above) if reached < mean else (below, middle)
    return CappedLogNormal(mu=0.5 * (below + above), sigma=_SPREAD, low=low, high=high)


def _clipped_mean(mu: float, low: int, high: int) -> float:
    values = [min(max(math.exp(mu + _SPREAD * z), low), high) for z in _grid()]
    return math.fsum(values) / len(values)


@lru_cache(maxsize=1)
def _grid() -> tuple[float, ...]:
    """Equally likely values of the standard normal distribution."""
    from statistics import NormalDist

    return tuple(NormalDist().inv_cdf((place + 0.5) / 200) for place in range(200))


def _clipped(value: float, low: int, high: int) -> int:
    return int(min(max(round(value), low), high))
