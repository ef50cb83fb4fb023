"""Student's t distribution without scipy: its distribution function and its quantiles."""

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statistics import NormalDist

_TINY = 1e-300
_CONVERGED = 1e-15
_MEDIAN = 0.5
_NORMAL_FROM = 1e7
"""Degrees of freedom from which the normal distribution is the same to 9 digits."""


def _normal() -> "NormalDist":
    """Imported when it is needed: the module takes long to load."""
    from statistics import NormalDist

    return NormalDist()


def _continued_fraction(x: float, a: float, b: float) -> float:
    """Lentz's method for the continued fraction of the incomplete beta function (DLMF 8.17.22)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    result = d
    for m in range(1, 400):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d = 1.0 + term * d
            c = 1.0 + term / c
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = c if abs(c) > _TINY else _TINY
            result *= c * d
        if abs(c * d - 1.0) < _CONVERGED:
            break
    return result


def regularized_beta(x: float, a: float, b: float) -> float:
    """Regularized incomplete beta function I_x(a, b) for 0 <= x <= 1 and positive a, b."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1.0) / (a + b + 2.0):
        return math.exp(log_front) * _continued_fraction(x, a, b) / a
    return 1.0 - math.exp(log_front) * _continued_fraction(1.0 - x, b, a) / b


def t_cdf(t: float, dof: float) -> float:
    """P(T <= t) for Student's t with `dof` degrees of freedom, which need not be whole."""
    if dof >= _NORMAL_FROM:
        return _normal().cdf(t)
    tail = 0.5 * regularized_beta(dof / (dof + t * t), dof / 2.0, 0.5)
    return 1.0 - tail if t >= 0.0 else tail


@lru_cache(maxsize=1024)
def t_quantile(p: float, dof: float) -> float:
    """Value that Student's t with `dof` degrees of freedom stays below with probability `p`.

    Raises ValueError unless 0 < p < 1 and dof > 0.
    """
    if not 0.0 < p < 1.0 or dof <= 0.0:
        raise ValueError(f"no t quantile for p={p}, dof={dof}")
    if p < _MEDIAN:
        return -t_quantile(1.0 - p, dof)
    if dof >= _NORMAL_FROM or p == _MEDIAN:
        return _normal().inv_cdf(p)
    low, high = 0.0, 2.0
    while t_cdf(high, dof) < p:
        low, high = high, 2.0 * high
    t = 0.5 * (low + high)
    for _ in range(200):
        error = t_cdf(t, dof) - p
        low, high = (low, t) if error > 0.0 else (t, high)
        newton = t - error / _density(t, dof)
        following = newton if low < newton < high else 0.5 * (low + high)
        if abs(following - t) <= _CONVERGED * t:
            break
        t = following
    return t


def _density(t: float, dof: float) -> float:
    log_front = math.lgamma(0.5 * (dof + 1.0)) - math.lgamma(0.5 * dof) - 0.5 * math.log(dof * math.pi)
    return math.exp(log_front - 0.5 * (dof + 1.0) * math.log1p(t * t / dof)) or _TINY
