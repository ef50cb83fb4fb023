"""The curves that a batch size's throughput may follow: a prior, drawn at random from mechanisms.

Decode steps cost a fixed part and a part for each sequence, so throughput rises as b / (b + h), on some
services by a lower power of it. Beyond the knee, where the KV blocks are full, it stays flat for a while or
falls: by a bounded loss, as preemption costs more or less, or by a power of the batch, as time is lost to
thrashing. Where clients contend and wait for each other the scalability law b / (h + b + b^2 / k) has a round
top instead. Kernels pad to tiles or to graph sizes (gears). On some services throughput falls from the low
end on, and on some it rises a second time.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from autotune.model.bracket import Bracket

Floats = NDArray[np.float64]

_GEARS = np.array(sorted({2**k for k in range(16)} | {3 * 2**k for k in range(15)}), dtype=float)
_TILES = (4, 8, 16, 32, 64, 128)
_NEAR_START = 0.6
"""Shares of the curves: the knee lies near the start; no plateau; no fall; and so on."""
_NO_PLATEAU = 0.5
_NO_FALL = 0.2
_KINKED = 0.5
_VARY = 0.15
_VARY_KNEE = 0.04
_LARGEST_LOSS = 0.6
_TILED = 0.2
_GEARED = 0.12
_FALLING = 0.08
_TWO_RISES = 0.08
LOWER_POWER = 0.2
THRASHING = 0.15
LAW = 0.1
_VARY_POWER = 0.05


@dataclass(frozen=True, kw_only=True)
class Family:
    """Parameters of many curves, one a row."""

    half: Floats
    """Batch size at which half of the rise is reached."""
    knee: Floats
    edge: Floats
    """Where the fall begins; at the knee or after a plateau."""
    loss: Floats
    width: Floats
    """Length of the fall, as a fraction of the edge."""
    kink: Floats
    """1: the fall begins at once; 0: with a shoulder."""
    tile: Floats
    """0: none; below 0: gears."""
    slope: Floats
    """Fall over the whole bracket from its low end on, a fraction; 0 for most."""
    second: Floats
    """Height of a second rise, a fraction; 0 for most."""
    power: Floats
    """Of the rise; 1 for most."""
    thrash: Floats
    """Power of the fall beyond the edge; 0 for most."""
    law: Floats
    """1: the scalability law with its top at the knee; 0 for most."""

    def take(self, indices: NDArray[np.int64]) -> "Family":
        """Some of the curves."""
        return Family(**{field.name: getattr(self, field.name)[indices] for field in fields(self)})

    def varied(self, rng: np.random.Generator) -> "Family":
        """Each curve a little changed, so that few good ones become many."""

        def about(values: Floats, deviation: float) -> Floats:
            return np.asarray(values * np.exp(rng.normal(0.0, deviation, len(values))), dtype=np.float64)

        knee = about(self.knee, _VARY_KNEE)
        return replace(
            self,
            half=about(self.half * knee / self.knee, _VARY),
            knee=knee,
            edge=np.maximum(knee, about(self.edge * knee / self.knee, _VARY_KNEE)),
            loss=np.minimum(about(self.loss, _VARY), _LARGEST_LOSS),
            width=about(self.width, _VARY),
            slope=np.minimum(about(self.slope, _VARY), _LARGEST_LOSS),
            second=about(self.second, _VARY),
            power=np.minimum(about(self.power, _VARY_POWER), 1.0),
            thrash=about(self.thrash, _VARY),
        )


def draw_family(bracket: Bracket, count: int, rng: np.random.Generator) -> Family:
    """Random curves around what the block arithmetic says."""
    start = float(max(1, bracket.start))
    low, high = 0.5 * max(1, bracket.low), 2.0 * max(2, bracket.high)
    near = start * np.exp(rng.normal(0.12, 0.25, count))
    anywhere = np.exp(rng.uniform(np.log(low), np.log(high), count))
    knee = np.where(rng.random(count) < _NEAR_START, near, anywhere)
    plateau = np.where(rng.random(count) < _NO_PLATEAU, 1.0, np.exp(rng.uniform(0.0, 0.7, count)))
    loss = np.where(rng.random(count) < _NO_FALL, 0.0, 0.4 * rng.random(count) ** 1.5)
    kind = rng.random(count)
    tile = np.where(kind < _TILED, rng.choice(_TILES, count), np.where(kind < _TILED + _GEARED, -1.0, 0.0))
    slope = np.where(rng.random(count) < _FALLING, rng.uniform(0.03, 0.4, count), 0.0)
    second = np.where(rng.random(count) < _TWO_RISES, rng.uniform(0.03, 0.14, count), 0.0)
    lower = rng.random(count) < LOWER_POWER
    law = rng.random(count) < LAW
    wide = np.where(lower, np.log(30.0), np.log(1.5))
    return Family(
        half=knee * np.exp(rng.uniform(np.log(0.05), wide, count)),
        knee=knee,
        edge=knee * plateau,
        loss=loss,
        width=np.exp(rng.uniform(np.log(0.05), np.log(1.2), count)),
        kink=(rng.random(count) < _KINKED).astype(np.float64),
        tile=tile,
        slope=slope,
        second=second,
        power=np.where(lower, rng.uniform(0.05, 1.0, count), 1.0),
        thrash=np.where((rng.random(count) < THRASHING) & ~law, rng.uniform(0.1, 2.0, count), 0.0),
        law=law.astype(np.float64),
    )


def log_speeds(family: Family, sizes: Floats, bracket: Bracket) -> Floats:
    """Logarithm of each curve at each size, up to a constant; shape (curves, sizes)."""
    b = sizes[None, :]
    knee, edge = family.knee[:, None], family.edge[:, None]
    half = family.half[:, None]
    law = family.law[:, None] > 0.0
    top = np.where(law, b, np.minimum(b, knee))
    contention = np.where(law, b * b * half / (knee * knee), 0.0)
    rise = np.log(top) - np.log(_padded(top, family.tile) + half + contention)
    rise = rise * family.power[:, None]
    beyond = (b / edge - 1.0) / family.width[:, None]
    shape = np.where(family.kink[:, None] > 0.0, np.clip(beyond, 0.0, 1.0), _smooth_step(beyond))
    fall = np.log1p(-np.where(law, 0.0, family.loss[:, None]) * shape)
    fall = fall - family.thrash[:, None] * np.log(np.maximum(b / edge, 1.0))
    span = np.log(max(bracket.high, 2 * bracket.low) / max(1.0, float(bracket.low)))
    along = np.log(b / max(1.0, float(bracket.low))) / span
    falling = np.log1p(-family.slope[:, None] * np.clip(along, -0.5, 1.5))
    later = np.log1p(family.second[:, None] * _smooth_step((b / knee - 0.7) / 0.3))
    saturated = np.where(family.slope[:, None] > 0.0, 0.0, rise)
    return np.asarray(saturated + fall + falling + later, dtype=np.float64)


def _padded(b: Floats, tile: Floats) -> Floats:
    """Sizes as the kernels run them: up to the next tile or gear."""
    step = np.where(tile > 0.0, tile, 1.0)[:, None]
    tiled = np.where(tile[:, None] > 0.0, np.ceil(b / step) * step, b)
    gears = _GEARS[np.minimum(np.searchsorted(_GEARS, b), len(_GEARS) - 1)]
    return np.where(tile[:, None] < 0.0, gears, tiled)


def _smooth_step(x: Floats) -> Floats:
    clipped = np.clip(x, 0.0, 1.0)
    return np.asarray(clipped * clipped * (3.0 - 2.0 * clipped), dtype=np.float64)
