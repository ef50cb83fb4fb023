"""Choice: where the next restart teaches most, what is best so far, and how much may be missed."""

from dataclasses import dataclass

import numpy as np

from autotune.model.move import Expected
from autotune.search.belief import Posterior
from autotune.search.family import Floats
from autotune.search.feasibility import Feasibility
from autotune.search.observations import Observations

_NODES = 21
_LEAST_CHANCE = (0.0, 0.8, 0.8)
"""Chance to come up that a size must have to be tried after none, one, two or more failed starts."""
_NORMAL_95 = 1.96
_BEYOND = 0.9
"""Chance that a size above everything that ran comes up, when none has failed yet."""


LOST = 0.1
"""How far below the best does not matter: where a size may have collapsed, a long tail of such draws would
pass for an equal chance to be far above."""
FLAT_TIE = 0.005
MUCH_SMALLER = 0.8
SURE = 0.9
LIKELY = 0.8
"""On a flat top a size smaller by a fifth is preferred when it is surely within the margin of the best; one
that is likely within FLAT_TIE is worth a restart."""
_LEAST_FEASIBLE = 0.03
"""Chance to keep the limits below which a size is not tried."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What the belief says to do."""

    following: int | None
    """Size whose restart promises most; None when nothing is left to try."""
    promise: float
    """Expected gain of the final choice by that restart, a fraction."""
    best: int | None
    """Size to recommend among those restarted."""
    smaller: int | None = None
    """A size not restarted yet that is much smaller and likely as good: the top is flat."""
    gain: float | None = None
    """Believed gain of `best` over a size, a fraction; None where none was asked for."""
    missed: float
    """Chance that the best size is more than the margin faster than that."""
    expected: Expected | None = None
    """What the restart at `following` should read; None while nothing gives the curve its scale."""


def chance_to_run(observations: Observations, sizes: Floats) -> Floats:
    """Chance that a start at each size gives a number; the edge is log-uniform where it may be."""
    works, fails = observations.works_at, observations.fails_at
    if fails is None:
        return np.where(sizes <= works, 1.0, _BEYOND)
    span = np.log(fails) - np.log(max(1, works))
    inside = np.clip((np.log(fails) - np.log(sizes)) / max(span, 1e-9), 0.0, 1.0)
    least = _LEAST_CHANCE[min(observations.starts_failed, len(_LEAST_CHANCE) - 1)]
    return np.where(sizes <= works, 1.0, np.where(inside >= least, inside, 0.0))


def choose(
    posterior: Posterior,
    observations: Observations,
    *,
    margin: float,
    tie: float,
    forbidden: frozenset[int],
    feasible: Feasibility | None = None,
    against: int | None = None,
) -> Choice:
    """Judge every size by its one-step promise (knowledge gradient) times its chance to run.

    With `feasible`, also times its chance to keep the limits, and only what kept them is recommended.
    `against` is the size that the gain of the best is wanted over.
    """
    sizes = np.array(posterior.sizes, dtype=float)
    chance = chance_to_run(observations, sizes)
    chance[np.isin(posterior.sizes, list(forbidden))] = 0.0
    if feasible is not None:
        chance *= np.where(feasible.chance >= _LEAST_FEASIBLE, feasible.chance, 0.0)
    mean = posterior.draws.mean(axis=0)
    restarted = observations.restarted if feasible is None else feasible.proven
    known = [posterior.sizes.index(size) for size in restarted if size in posterior.sizes]
    known = [index for index in known if posterior.sizes[index] not in forbidden]
    promise = _promise(posterior, mean, known) * chance
    at = int(np.argmax(promise)) if chance.max() > 0.0 else None
    following = None if at is None else posterior.sizes[at]
    expected = None if at is None or not observations.rows else _expected(posterior, at)
    if not known:
        return Choice(following=following, promise=float("inf"), best=None, missed=1.0, expected=expected)
    leader = max(known, key=lambda index: mean[index])
    equal = [index for index in known if mean[index] >= mean[leader] - tie]
    best = min(equal, key=lambda index: posterior.sizes[index])
    best = _smallest_as_good(posterior, known, best, margin)
    missed = _missed(posterior, best, chance, margin, feasible)
    return Choice(
        following=following,
        promise=0.0 if at is None else float(promise[at]),
        best=posterior.sizes[best],
        missed=missed,
        smaller=_much_smaller(posterior, known, best, chance),
        gain=None if against is None else _gain(posterior, best, against),
        expected=expected,
    )


def _gain(posterior: Posterior, best: int, against: int) -> float | None:
    """Mean believed gain over a size that the belief knows."""
    if against not in posterior.sizes:
        return None
    other = posterior.sizes.index(against)
    return float(np.expm1(np.mean(posterior.draws[:, best] - posterior.draws[:, other])))


def _expected(posterior: Posterior, at: int) -> Expected:
    """The belief at one size, with the error that one more reading has."""
    draws = posterior.draws[:, at]
    deviation = float(np.hypot(draws.std(ddof=1), posterior.reading_error))
    return Expected(
        tokens_per_second=float(np.exp(draws.mean())), half_width=float(np.expm1(_NORMAL_95 * deviation))
    )


def _smallest_as_good(posterior: Posterior, known: list[int], best: int, margin: float) -> int:
    """The smallest restarted size that is surely within the margin of the best, where the top is flat."""
    draws = posterior.draws
    mean = draws.mean(axis=0)
    for index in sorted(known):
        sure = float(np.mean(draws[:, index] >= draws[:, best] - margin)) >= SURE
        much = posterior.sizes[index] <= MUCH_SMALLER * posterior.sizes[best]
        if much and sure and mean[index] >= mean[best] - FLAT_TIE:
            return index
    return best


def _much_smaller(posterior: Posterior, known: list[int], best: int, chance: Floats) -> int | None:
    """The smallest size that is likely as good as the best, where none of that size was restarted."""
    draws, sizes = posterior.draws, posterior.sizes
    likely = np.mean(draws >= draws[:, [best]] - FLAT_TIE, axis=0) >= LIKELY
    as_good = np.flatnonzero(likely & (chance > _BEYOND / 2))
    if not len(as_good) or sizes[as_good[0]] > MUCH_SMALLER * sizes[best]:
        return None
    first = int(as_good[0])
    near = any(sizes[first] * MUCH_SMALLER <= sizes[index] <= sizes[first] / MUCH_SMALLER for index in known)
    return None if near else sizes[first]


def _missed(
    posterior: Posterior, best: int, chance: Floats, margin: float, feasible: Feasibility | None
) -> float:
    """Chance that some size that may run, and keep the limits, is more than the margin faster."""
    draws = posterior.draws
    if feasible is not None:
        draws = np.where(feasible.draws & (chance > 0.0), draws, -np.inf)
        return float(np.mean(draws.max(axis=1) - posterior.draws[:, best] > margin))
    possible = draws[:, chance > _BEYOND / 2]
    return float(np.mean(possible.max(axis=1) - draws[:, best] > margin)) if possible.size else 0.0


def _promise(posterior: Posterior, mean: Floats, known: list[int]) -> Floats:
    """Expected rise of the best restarted mean by one more reading at each size."""
    if not known:
        return np.asarray(mean - mean.min() + 1e-9, dtype=np.float64)
    draws = np.maximum(posterior.draws, mean[known].max() - LOST)
    mean = draws.mean(axis=0)
    deviations = draws - mean
    count = len(posterior.draws) - 1
    variance = np.einsum("ij,ij->j", deviations, deviations) / count
    spread = np.sqrt(variance + posterior.reading_error**2)
    nodes = _normal_nodes()
    shared = deviations[:, known].T @ deviations / count / spread
    moved = mean[known][:, None, None] + shared[:, :, None] * nodes
    own = mean[:, None] + (variance / spread)[:, None] * nodes
    best = np.maximum(moved.max(axis=0), own)
    return np.asarray(best.mean(axis=1) - mean[known].max(), dtype=np.float64)


def _normal_nodes() -> Floats:
    """Equally likely values of a standard normal."""
    from statistics import NormalDist

    return np.array([NormalDist().inv_cdf((index + 0.5) / _NODES) for index in range(_NODES)])
