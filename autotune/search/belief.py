"""Belief: which curves go with the observations, as joint draws of log throughput at the candidates.

log reading = log curve + smooth residual + luck of the launch + error of the level
log sweep level = the same + an offset of the sweep and a smooth bias between sweep and restart

The curves come from `family`, their scale is free, and everything else is Gaussian, so that the weight of a
curve is exact. What kind of world it is (a calm or a rough residual, a small or a large sweep bias, at
most one launch that is off, the first more likely so because it is cold) is a handful of hypotheses,
weighted together with the curves. Where the service counts running requests and preemptions, they say
where the knee is; a start that failed says up to where there is a curve at all (see `choice`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from autotune.model.bracket import Bracket
from autotune.search.family import Family, Floats, draw_family, log_speeds
from autotune.search.observations import Observations, Row

CURVES = 3000
DRAWS = 400
LEAST_WORTH = 60.0
_LEAST_POWER = 0.01
_KEEP_GOOD = 0.9
RESIDUALS = ((0.004, 0.12, 0.45), (0.02, 0.12, 0.45), (0.06, 0.4, 0.1))
"""Standard deviation of the residual, its length on the logarithm of the size, and its share of belief: what
the curves miss is little, or rough, or of another shape altogether."""
BIASES = ((0.015, 1.0, 0.8), (0.08, 1.0, 0.14), (0.3, 0.4, 0.06))
"""Standard deviation of the smooth bias of a sweep, its length on the logarithm of the size, and its share of
belief."""
_SWEEP_OFFSET = 0.1
_FOREIGN = 0.03
_OFF = 0.1
_OFF_SHARE = 0.03
_COLD_SHARE = 0.2
_SPREAD_FLOOR = 0.004
_SPREAD_SHARE = 0.35
"""A service that is restless within a launch is so between launches."""
_JITTER = 1e-10
_KNEE_ERROR = 0.06
"""Standard deviation of log(mean running requests where the blocks are full / knee)."""
_KNEE_DOUBT = 0.2
"""Share of belief that pays no heed to the counters."""


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """Joint draws of log throughput: `draws[i, j]` is draw i at `sizes[j]`."""

    sizes: tuple[int, ...]
    draws: Floats
    reading_error: float
    """Standard deviation that one more restart's reading would have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _World:
    """One hypothesis and its prior weight."""

    residual: float
    length: float
    bias: float
    bias_length: float
    off: int | None
    """Number of the launch that is off."""
    weight: float


@lru_cache(maxsize=8)
def believe(observations: Observations, sizes: tuple[int, ...], bracket: Bracket, seed: int) -> Posterior:
    """Draws given everything observed. The same arguments give the same draws."""
    rows = observations.rows
    rng = np.random.default_rng([seed, len(rows)])
    family = draw_family(bracket, CURVES, np.random.default_rng(seed))
    spread = _launch_spread(rows)
    error = _reading_error(rows, spread)
    if not rows:
        draws = log_speeds(family.take(rng.choice(CURVES, DRAWS)), np.array(sizes, dtype=float), bracket)
        return Posterior(sizes=sizes, draws=draws, reading_error=error)
    draws = _draw(observations, sizes, family, bracket, spread, rng)
    return Posterior(sizes=sizes, draws=draws, reading_error=error)


def _launch_spread(rows: tuple[Row, ...]) -> float:
    errors = [row.error for row in rows if not row.swept]
    return float(np.hypot(_SPREAD_FLOOR, _SPREAD_SHARE * float(np.median(errors)) if errors else 0.0))


def _reading_error(rows: tuple[Row, ...], spread: float) -> float:
    errors = [row.error for row in rows if not row.swept]
    return float(np.hypot(spread, float(np.median(errors)) if errors else 0.005))


def _worlds(rows: tuple[Row, ...]) -> list[_World]:
    launches = sorted({row.launch for row in rows if not row.swept})
    shares = {number: _COLD_SHARE if number == 1 else _OFF_SHARE for number in launches}
    calm = max(0.1, 1.0 - sum(shares.values()))
    offs: list[tuple[int | None, float]] = [(None, calm), *shares.items()]
    return [
        _World(residual=residual, length=length, bias=bias, bias_length=reach, off=off, weight=a * b * c)
        for residual, length, a in RESIDUALS
        for bias, reach, b in (BIASES if any(row.swept for row in rows) else ((0.0, 1.0, 1.0),))
        for off, c in offs
    ]


def _matern(distance: Floats, length: float) -> Floats:
    scaled = np.sqrt(5.0) * np.abs(distance) / length
    return np.asarray((1.0 + scaled + scaled**2 / 3.0) * np.exp(-scaled), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class _Fit:
    """What one world makes of the rows."""

    world: _World
    lower: Floats
    """Cholesky root of the rows' covariance."""
    precision: float
    """Of the free scale."""
    scale: Floats
    """(curves): the best scale of each curve."""
    log_weights: Floats


def _covariance(rows: tuple[Row, ...], world: _World, spread: float) -> Floats:
    x = np.log([row.size for row in rows])
    launch = np.array([row.launch for row in rows])
    swept = np.array([row.swept for row in rows])
    distance = x[:, None] - x[None, :]
    same = launch[:, None] == launch[None, :]
    both = swept[:, None] & swept[None, :]
    middle = float(x[swept].mean()) if swept.any() else 0.0
    slope = (x - middle)[:, None] * (x - middle)[None, :]
    bias = world.bias**2 * (0.5 * slope + 0.5 * np.exp(-0.5 * (distance / world.bias_length) ** 2))
    total = world.residual**2 * _matern(distance, world.length) + spread**2 * same
    total += both * (_SWEEP_OFFSET**2 + bias)
    if world.off is not None:
        total += _OFF**2 * (same & (launch == world.off)[:, None])
    own = np.array([row.error**2 + (_FOREIGN**2 if row.foreign else 0.0) for row in rows])
    return np.asarray(total + np.diag(own + _JITTER), dtype=np.float64)


def _fit(rows: tuple[Row, ...], misfit: Floats, world: _World, spread: float) -> _Fit:
    """Exact Gaussian weights with a free scale; `misfit` is (curves, rows): reading less curve."""
    lower = np.asarray(np.linalg.cholesky(_covariance(rows, world, spread)), dtype=np.float64)
    whitening = np.linalg.inv(lower)  # a dozen rows: cheaper than solving for thousands of curves
    white = whitening @ misfit.T
    ones = whitening.sum(axis=1)
    precision = float(ones @ ones)
    scale = ones @ white / precision
    quadratic = np.einsum("rc,rc->c", white, white) - precision * scale**2
    constant = -np.log(np.diag(lower)).sum() - 0.5 * np.log(precision) + np.log(world.weight)
    return _Fit(
        world=world,
        lower=lower,
        precision=precision,
        scale=np.asarray(scale, dtype=np.float64),
        log_weights=np.asarray(constant - 0.5 * quadratic, dtype=np.float64),
    )


def _project(fit: _Fit, rows: tuple[Row, ...], sizes: tuple[int, ...]) -> tuple[Floats, Floats]:
    """How the rows' misfit moves each size, (sizes, rows), and the root of what stays unknown there."""
    x, at = np.log([row.size for row in rows]), np.log(sizes)
    variance = fit.world.residual**2
    half = np.linalg.solve(fit.lower, variance * _matern(x[:, None] - at[None, :], fit.world.length))
    gain = np.linalg.solve(fit.lower.T, half).T
    left = 1.0 - gain.sum(axis=1)
    unknown = variance * _matern(at[:, None] - at[None, :], fit.world.length) - half.T @ half
    unknown += np.outer(left, left) / fit.precision + 1e-9 * np.eye(len(sizes))
    return gain, np.asarray(np.linalg.cholesky(unknown), dtype=np.float64)


def _misfit(rows: tuple[Row, ...], family: Family, bracket: Bracket) -> Floats:
    at_rows = log_speeds(family, np.array([row.size for row in rows], dtype=float), bracket)
    return np.asarray(np.array([row.log_speed for row in rows])[None, :] - at_rows, dtype=np.float64)


def _tempered(log_weights: Floats) -> Floats:
    """Probabilities from log weights, flattened until they are worth LEAST_WORTH equal ones.

    Too few good curves would make a belief surer than it has reason to be.
    """
    power, tilted = 1.0, log_weights - log_weights.max()
    while True:
        weights = np.exp(power * tilted)
        weights /= weights.sum()
        if 1.0 / float(weights @ weights) >= LEAST_WORTH or power < _LEAST_POWER:
            return np.asarray(weights, dtype=np.float64)
        power *= 0.8


def _counted(observations: Observations, prior: Family) -> Callable[[Family], Floats]:
    """Log weight of each curve's knee by what the service counted; the prior keeps a share of its say."""
    usual = float(np.mean(_knee_likelihood(observations, prior)))

    def weight(family: Family) -> Floats:
        total = np.zeros(len(family.knee))
        if observations.knee is not None:
            likelihood = _knee_likelihood(observations, family) / max(usual, 1e-6)
            total += np.log(_KNEE_DOUBT + (1.0 - _KNEE_DOUBT) * likelihood)
        if observations.unfilled > 0.0:
            below = np.log(family.knee) < math.log(observations.unfilled) - _KNEE_ERROR
            total += np.where(below, math.log(_KNEE_DOUBT), 0.0)
        return total

    return weight


def _knee_likelihood(observations: Observations, family: Family) -> Floats:
    if observations.knee is None:
        return np.ones(len(family.knee))
    off = (np.log(family.knee) - math.log(observations.knee)) / _KNEE_ERROR
    return np.asarray(np.exp(-0.5 * off**2), dtype=np.float64)


def _draw(
    observations: Observations,
    sizes: tuple[int, ...],
    family: Family,
    bracket: Bracket,
    spread: float,
    rng: np.random.Generator,
) -> Floats:
    """Weigh the curves, vary the good ones, weigh these by likelihood over chance of having been varied."""
    rows = observations.rows
    worlds = _worlds(rows)
    counted = _counted(observations, family)
    misfit = _misfit(rows, family, bracket)
    first = [_fit(rows, misfit, world, spread) for world in worlds]
    chance = _tempered(np.logaddexp.reduce([fit.log_weights for fit in first]) + counted(family))
    chance = _KEEP_GOOD * chance + (1.0 - _KEEP_GOOD) / CURVES
    parents = rng.choice(CURVES, CURVES, p=chance)
    family = family.take(parents).varied(rng)
    misfit = _misfit(rows, family, bracket)
    fits = [_fit(rows, misfit, world, spread) for world in worlds]
    log_weights = np.stack([fit.log_weights for fit in fits]) + counted(family) - np.log(chance[parents])
    flat = rng.choice(log_weights.size, DRAWS, p=_tempered(log_weights.ravel()))
    draws = log_speeds(family.take(flat % CURVES), np.array(sizes, dtype=float), bracket)
    for index, fit in enumerate(fits):
        mine = np.flatnonzero(flat // CURVES == index)
        if not len(mine):
            continue
        chosen = flat[mine] % CURVES
        gain, root = _project(fit, rows, sizes)
        moved = (misfit[chosen] - fit.scale[chosen, None]) @ gain.T
        noise = rng.standard_normal((len(mine), len(sizes))) @ root.T
        draws[mine] += fit.scale[chosen, None] + moved + noise
    return draws
