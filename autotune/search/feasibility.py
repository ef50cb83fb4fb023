"""Feasibility: at which batch sizes the limits are likely to be kept, from what was read so far."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from autotune.model.launch import History, LaunchRecord, Purpose
from autotune.model.limit import Limit, LimitMetric
from autotune.model.measurement import Measurement
from autotune.search.family import Floats
from autotune.search.limits import CONFIDENCE, allowed_share, counted, keeps, levels_of, value_of
from autotune.search.space import Space

_RUNNING = frozenset({LimitMetric.TPOT, LimitMetric.EVENT_GAP})
"""What depends on the requests that run, so that a sweep shows it; the others depend on the queue."""
_LEVEL = 1.5
_SLOPE = 1.0
_BEND = 0.25
_BEND_LENGTH = 0.5
"""Prior of the logarithm of a figure over log batch size: its level, its slope, and a smooth bend."""
_SWEEPS = ((0.1, 0.2, 0.6), (0.8, 0.8, 0.4))
"""How far a sweep's figures may lie from those of restarts, how fast that may change with log size, and the
share of belief: close by, or a world apart, since nothing queues in a sweep."""
_SWEEP_ERROR = 0.02
_PERCENTILE_ERROR = 0.02
_FOREIGN_ERROR = 0.1
_NORMAL_95 = 1.96
_MEAN_MARGIN = 0.012
"""A mean must lie so much inside its bound to be called surely kept."""
_PERCENTILE_MARGIN = 0.02


@dataclass(frozen=True, kw_only=True, slots=True)
class Feasibility:
    """What is believed of the limits at each size."""

    chance: Floats
    """(sizes): that a restart proves all limits kept."""
    draws: NDArray[np.bool_]
    """(draws, sizes): joint draws of the same, for draws of throughput to be masked by."""
    proven: tuple[int, ...]
    """Sizes of which restarts with a candidate's settings kept the limits, ascending."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Point:
    """One figure at one size, relative to its bound and on a log scale: kept where below 0."""

    size: float
    value: float
    error: float
    swept: bool


def feasibility(
    history: History,
    space: Space,
    limits: tuple[Limit, ...],
    sizes: tuple[int, ...],
    *,
    draws: int,
    seed: int,
) -> Feasibility:
    """Each limit by itself as a smooth curve over log size; a draw keeps all of them or none.

    A size whose restarts were judged is what they were judged to be.
    """
    rng = np.random.default_rng([seed, len(history.launches)])
    kept = np.ones((draws, len(sizes)), dtype=bool)
    chance = np.ones(len(sizes))
    for limit in limits:
        points = _points(history, space, limit)
        curves = [_curve(points, np.log(sizes), offset, slope) for offset, slope, _ in _SWEEPS]
        weights = _weights([curve.log_evidence for curve in curves])
        chosen = rng.choice(len(curves), size=draws, p=weights)
        means = np.stack([curve.mean for curve in curves])[chosen]
        deviations = np.stack([curve.deviation for curve in curves])[chosen]
        kept &= means + rng.standard_normal((draws, 1)) * deviations <= 0.0
        chance *= weights @ np.stack([curve.below() for curve in curves])
    proven = []
    for size, good in _restarts(history, space, limits).items():
        if size in sizes:
            kept[:, sizes.index(size)] = good
            chance[sizes.index(size)] = float(good)
        if good:
            proven.append(size)
    return Feasibility(chance=chance, draws=kept, proven=tuple(sorted(proven)))


def _restarts(history: History, space: Space, limits: tuple[Limit, ...]) -> dict[int, bool]:
    """Whether all restarts of each size together kept the limits."""
    settings = {space.settings_for(launch.settings.max_batch_size) for launch in history.launches}
    return {
        each.max_batch_size: keeps(history, limits, each, space.concurrency)
        for each in settings
        if levels_of(history, each, space.concurrency)
    }


def _compared(launch: LaunchRecord, space: Space) -> tuple[Measurement, ...]:
    return tuple(level for level in launch.measurements if level.concurrency == space.concurrency)


def _points(history: History, space: Space, limit: Limit) -> list[_Point]:
    points = [point for launch in history.launches for point in _of_launch(launch, space, limit)]
    return [point for point in points if math.isfinite(point.value)]


def _of_launch(launch: LaunchRecord, space: Space, limit: Limit) -> list[_Point]:
    size = launch.settings.max_batch_size
    if launch.purpose is Purpose.SCOUT:
        fitting = [level for level in launch.measurements if level.concurrency <= size]
        found = [_swept(level, limit) for level in fitting] if limit.metric in _RUNNING else []
        return [point for point in found if point is not None]
    levels = _compared(launch, space)
    figure = _figure(limit, levels) if levels else None
    if figure is None:
        return []
    value, error = figure
    foreign = 0.0 if launch.settings == space.settings_for(size) else _FOREIGN_ERROR
    return [_Point(size=float(size), value=value, error=math.hypot(error, foreign), swept=False)]


def _swept(level: Measurement, limit: Limit) -> _Point | None:
    figure = _figure(limit, (level,))
    if figure is None:
        return None
    ran = level.running_mean or float(level.concurrency)
    value, error = figure
    return _Point(size=max(1.0, ran), value=value, error=math.hypot(error, _SWEEP_ERROR), swept=True)


def _figure(limit: Limit, levels: tuple[Measurement, ...]) -> tuple[float, float] | None:
    """Logarithm of the figure over its bound, the margin of proof included, and its standard error.

    The margin of a share is about the binomial bound's, for the requests that were counted.
    """
    if limit.metric.is_share:
        counts, allowed = counted(limit, levels), allowed_share(limit)
        if counts is None or allowed is None:
            return None
        over, requests = counts
        share, most = (over + 0.5) / (requests + 1.0), max(allowed, 1e-6)
        margin = NormalDist().inv_cdf(CONFIDENCE) * math.sqrt((1.0 - most) / (most * requests))
        return math.log(share / most) + margin, 1.0 / math.sqrt(over + 1.0)
    values = [value for level in levels if (value := value_of(limit, level)) is not None]
    if not values or min(values) <= 0.0:
        return None
    value = math.log(sum(values) / len(values) / limit.bound)
    if allowed_share(limit) is None:
        return value + _MEAN_MARGIN, levels[-1].half_width / _NORMAL_95
    return value + _PERCENTILE_MARGIN, _PERCENTILE_ERROR


@dataclass(frozen=True, kw_only=True, slots=True)
class _Curve:
    """A Gaussian process through the points: mean and standard deviation at the log sizes asked for."""

    mean: Floats
    deviation: Floats
    log_evidence: float = 0.0
    """Of the points, up to what all hypotheses share."""

    def below(self) -> Floats:
        """Chance at each size to be below 0."""
        distance = -self.mean / np.maximum(self.deviation, 1e-9)
        return np.array([NormalDist().cdf(each) for each in distance])


def _curve(points: list[_Point], at: Floats, offset: float, slope: float) -> _Curve:
    """Through the points, where a sweep's lie off those of restarts by `offset` and by `slope` a log size."""
    middle = float(np.mean(at))
    own = _LEVEL**2 + (_SLOPE * (at - middle)) ** 2 + _BEND**2
    if not points:
        return _Curve(mean=np.zeros(len(at)), deviation=np.sqrt(own))
    x = np.log([point.size for point in points])
    y = np.array([point.value for point in points])
    swept = np.array([point.swept for point in points])
    noise = np.diag([point.error**2 + 1e-8 for point in points])
    apart = np.where(swept, x - middle, 0.0)
    bias = offset**2 * np.outer(swept, swept) + slope**2 * np.outer(apart, apart)
    total = _kernel(x, x, middle) + noise + bias
    across = _kernel(x, at, middle)
    pull = np.linalg.solve(total, y)
    variance = own - np.einsum("ij,ij->j", across, np.linalg.solve(total, across))
    return _Curve(
        mean=np.asarray(across.T @ pull, dtype=np.float64),
        deviation=np.sqrt(np.maximum(variance, 1e-10)),
        log_evidence=-0.5 * float(y @ pull + np.linalg.slogdet(total)[1]),
    )


def _weights(log_evidence: list[float]) -> Floats:
    """Belief in each of `_SWEEPS`."""
    logs = np.array(log_evidence) + np.log([share for _, _, share in _SWEEPS])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _kernel(a: Floats, b: Floats, middle: float) -> Floats:
    distance = a[:, None] - b[None, :]
    line = _LEVEL**2 + _SLOPE**2 * np.outer(a - middle, b - middle)
    return np.asarray(line + _BEND**2 * np.exp(-0.5 * (distance / _BEND_LENGTH) ** 2), dtype=np.float64)
