"""Worlds for the nights' bench: a curve of true speeds, which may move, and noisy launches on it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from autotune.model.bracket import RequestBlocks
from autotune.model.settings import Settings
from autotune.search.space import Space

LAUNCH_NOISE = 0.03
WITHIN = 0.004
MOST = 1000
WORTH = 0.05
"""What a moved optimum is worth at least, a fraction of the best speed."""
REHEARSAL_2176 = {
    100: 1768, 120: 1962, 145: 2136, 174: 2308, 209: 2492, 251: 2654, 302: 2807, 364: 3006, 437: 3084,
    526: 3214, 633: 2420, 761: 1845, 915: 1628, 1100: 1590,
}  # fmt: skip
"""Steady state of the rehearsal's llama3-8b preset, 1,200 clients: autotune.simulator.curve.predict_curve."""
REHEARSAL_1500 = REHEARSAL_2176 | {
    364: 2963, 437: 2079, 526: 1485, 633: 1207, 761: 1187, 915: 1365, 1100: 1369,
}  # fmt: skip
REHEARSAL_3000 = REHEARSAL_2176 | {526: 3208, 633: 3316, 761: 3460, 915: 2330, 1100: 2071}

Speeds = Callable[[float], float]


def table(points: dict[int, int]) -> Speeds:
    """Between the points by log size."""
    sizes, speeds = np.log(list(points)), np.array(list(points.values()), dtype=float)
    return lambda size: float(np.interp(math.log(size), sizes, speeds))


def hump(best: float, *, width: float, top: float = 3000.0) -> Speeds:
    """Falls by a factor exp(-(log ratio / width)^2 / 2) on both sides of the best size."""
    return lambda size: top * math.exp(-0.5 * (math.log(size / best) / width) ** 2)


def law(knee: float, *, fall: float, top: float = 3000.0) -> Speeds:
    """Saturates below the knee, falls by a power of the size above it."""

    def speed(size: float) -> float:
        rising = top * size / (size + 0.25 * knee)
        return rising if size <= knee else rising * (knee / size) ** fall

    return speed


@dataclass(frozen=True, kw_only=True)
class World:
    """What is true during a night."""

    name: str
    speeds: Speeds
    blocks: int = 2176
    factor: float = 1.0
    """Of all speeds: below 1 the host is slower."""
    fails_from: int | None = None

    def speed(self, size: int) -> float:
        """True token/s."""
        return self.factor * self.speeds(size)

    @property
    def best(self) -> int:
        """The fastest size that starts."""
        return _best(self)

    def lost(self, size: int) -> float:
        """How much slower than the best a size is, as a fraction."""
        return 1.0 - self.speed(size) / self.speed(self.best)

    def slower(self, fraction: float) -> "World":
        """The same host, a fraction slower at every size."""
        return replace(
            self, name=f"{self.name}, {fraction:.0%} slower", factor=self.factor * (1.0 - fraction)
        )


@lru_cache(maxsize=256)
def _best(world: World) -> int:
    return max(range(16, world.fails_from or MOST), key=world.speed)


CALM = (
    World(name="rehearsal llama3-8b", speeds=table(REHEARSAL_2176)),
    World(name="hump", speeds=hump(300, width=0.9)),
    World(name="saturation, then a mild fall", speeds=law(350, fall=0.6)),
    World(name="saturation, then a steep fall", speeds=law(350, fall=1.5)),
    World(name="does not start from 420 on", speeds=law(900, fall=1.0), fails_from=420),
)


@lru_cache(maxsize=32)
def moved(world: World) -> tuple[World, ...]:
    """The same host after its optimum has moved, each worth at least 5 % to the old best size.

    Blocks that other processes take or give back are seen at once; the others show in readings only.
    """
    if world.name.startswith("rehearsal"):
        return (
            replace(world, name="fewer blocks", speeds=table(REHEARSAL_1500), blocks=1500),
            replace(world, name="more blocks", speeds=table(REHEARSAL_3000), blocks=3000),
        )
    if world.fails_from is not None:
        return (replace(world, name=f"{world.name}; starts up to 700", fails_from=700, blocks=3500),)
    found = []
    for direction, step in (("up", 1.02), ("down", 1.0 / 1.02)):
        ratio = step
        while (new := _scaled(world, ratio, direction)).lost(world.best) < WORTH:
            ratio *= step
        found.append(new)
    return tuple(found)


def _scaled(world: World, ratio: float, direction: str) -> World:
    name = f"{world.name}; optimum {direction} by {ratio:.2f}"
    return replace(world, name=name, speeds=lambda size: world.speeds(size / ratio))


def space_of(world: World, incumbent: int) -> Space:
    """What the night is told."""
    return Space(
        incumbent=Settings(max_batch_size=incumbent),
        request=RequestBlocks(min_blocks=2, mean_blocks=5, max_blocks=6),
        mean_input_tokens=186.0,
        max_input_token_len=2048,
        bounds_high=5000,
        concurrency=MOST,
        blocks=world.blocks,
        tune_prefill=False,
    )
