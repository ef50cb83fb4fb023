"""Curves of the search bench: throughput over max_batch_size, made from seeds or read from a file.

Twelve families over four ranges, 24 curves each. They are plausible inventions, not measurements: rises
that saturate, knees near the block arithmetic's start, losses beyond it, tiles, gears, edges, flat tops.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tests.bench.search.surfaces import Surface, stored, surface_of

FAMILIES = (
    "peak_steep", "peak_mild", "plateau_drop", "stair", "gears", "flat_top",
    "mono_up", "mono_down", "oom_start", "crash_load", "wiggle", "two_rise",
)  # fmt: skip
RANGES = ((362, 1088), (20, 200), (64, 4096), (1, 256))
SEEDS = {"dev": range(12), "test": range(12, 24)}
_GEARS = sorted({2**k for k in range(13)} | {3 * 2**k for k in range(12)})


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One truth. `speeds[b]` is the token/s of a restart at b; index 0 is not used."""

    name: str
    family: str
    low: int
    start: int
    high: int
    bounds_low: int
    bounds_high: int
    incumbent: int
    blocks: int
    step: int
    speeds: np.ndarray
    fails_from: int | None = None
    """From here on the service does not start, for want of memory."""
    dies_from: int | None = None
    """From here on it dies under load."""
    sweep: np.ndarray | None = None
    """Token/s that a launch at a high limit reads at each concurrency; None: the bench makes it."""
    surface: Surface | None = None
    """Simulated: what every limit reads at every concurrency."""

    def works(self, size: int) -> bool:
        """A restart at this value gives a number."""
        edge = min(self.fails_from or math.inf, self.dies_from or math.inf)
        return size < edge

    @cached_property
    def best(self) -> float:
        """Token/s of the best value that may be chosen."""
        values = [self.speeds[b] for b in range(self.bounds_low, self.bounds_high + 1) if self.works(b)]
        return float(max(values))

    def regret(self, size: int | None) -> float:
        """Loss against the best, a fraction; 1 for a value that does not work."""
        if size is None or not self.works(size):
            return 1.0
        return max(0.0, 1.0 - float(self.speeds[size]) / self.best)


def _smooth_step(x: np.ndarray) -> np.ndarray:
    clipped = np.clip(x, 0.0, 1.0)
    return clipped * clipped * (3.0 - 2.0 * clipped)


def _rise(b: np.ndarray, rng: np.random.Generator, knee: float) -> np.ndarray:
    """By a fixed and a growing part of the step, by an exponential, or by the scalability law."""
    half, kind = knee * rng.uniform(0.25, 1.1), rng.integers(3)
    if kind == 0:
        return b / (b + half)
    if kind == 1:
        return 1.0 - np.exp(-b / half)
    return b / (b + half + rng.uniform(0.0, 0.3) * b * b / knee)


def _fall(b: np.ndarray, rng: np.random.Generator, edge: float, loss: tuple[float, float]) -> np.ndarray:
    """Beyond the edge, with a soft shoulder, with a kink, or steep at first."""
    beyond, kind = np.maximum(0.0, b / edge - 1.0) / rng.uniform(0.08, 0.7), rng.integers(3)
    shape = (_smooth_step(beyond), np.minimum(1.0, beyond), 1.0 - np.exp(-2.0 * beyond))[kind]
    return 1.0 - rng.uniform(*loss) * shape


def _padded(b: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return edges[np.searchsorted(edges, b)]


@dataclass(frozen=True, kw_only=True)
class _Draw:
    """What the shapes of one curve are made from."""

    b: np.ndarray
    rng: np.random.Generator
    low: int
    high: int
    knee: float

    @property
    def top(self) -> np.ndarray:
        """Requests that run: beyond the knee no more of them fit."""
        return np.minimum(self.b, self.knee)

    def peak(self, loss: tuple[float, float], edge: float = 1.0) -> np.ndarray:
        """A rise to the knee and a fall from an edge behind it."""
        return _rise(self.top, self.rng, self.knee) * _fall(self.b, self.rng, self.knee * edge, loss)


def _saw(draw: _Draw, *, geared: bool) -> np.ndarray:
    tile = draw.rng.choice([4, 8, 16] if draw.high <= 256 else [16, 32, 64])
    edges = np.array(_GEARS) if geared else np.arange(0, 2 * draw.b[-1] + tile, tile)
    speed = draw.top / (draw.knee * draw.rng.uniform(0.3, 1.0) + _padded(draw.top, edges))
    return speed * _fall(draw.b, draw.rng, draw.knee, (0.10, 0.35))


def _wiggle(draw: _Draw) -> np.ndarray:
    rng = draw.rng
    waves = sum(
        rng.uniform(0.003, 0.012) * np.sin(np.log(draw.b) * rng.uniform(8.0, 40.0) + rng.uniform(0.0, 6.3))
        for _ in range(3)
    )
    return draw.peak((0.03, 0.30)) * (1.0 + waves)


def _two_rise(draw: _Draw) -> np.ndarray:
    rng = draw.rng
    second = draw.knee * rng.uniform(1.0, 1.5)
    early = _rise(np.minimum(draw.b, second * rng.uniform(0.3, 0.55)), rng, 0.4 * draw.knee)
    later = 1.0 + rng.uniform(0.04, 0.12) * _smooth_step((draw.b / second - 0.7) / 0.3)
    return early * later * _fall(draw.b, rng, second * rng.uniform(1.05, 1.3), (0.10, 0.35))


def _mono_down(draw: _Draw) -> np.ndarray:
    along = np.log(np.maximum(draw.b / draw.low, 0.2)) / math.log(draw.high / draw.low)
    return 1.0 - draw.rng.uniform(0.08, 0.35) * along


def _flat_top(draw: _Draw) -> np.ndarray:
    corner = draw.low * draw.rng.uniform(0.6, 1.3)
    return 1.0 - draw.rng.uniform(0.1, 0.4) * np.exp(-draw.b / (corner * draw.rng.uniform(0.1, 0.2)))


_SHAPES: dict[str, Callable[[_Draw], np.ndarray]] = {
    "peak_steep": lambda draw: draw.peak((0.10, 0.35)),
    "peak_mild": lambda draw: draw.peak((0.02, 0.08)),
    "plateau_drop": lambda draw: draw.peak((0.10, 0.35), draw.rng.uniform(1.15, 1.8)),
    "stair": lambda draw: _saw(draw, geared=False),
    "gears": lambda draw: _saw(draw, geared=True),
    "flat_top": _flat_top,
    "mono_up": lambda draw: draw.b / (draw.b + draw.high * draw.rng.uniform(0.15, 0.9)),
    "mono_down": _mono_down,
    "oom_start": lambda draw: draw.peak((0.02, 0.35)),
    "crash_load": lambda draw: draw.peak((0.02, 0.35)),
    "wiggle": _wiggle,
    "two_rise": _two_rise,
}


def _place(index: int, rng: np.random.Generator) -> tuple[int, int, int]:
    low, high = RANGES[index]
    if index == 0:
        return low, 435, high
    share = rng.uniform(0.15, 0.45)
    return low, max(low, round(low * (high / low) ** share)), high


def make_curve(family: str, range_index: int, seed: int) -> Curve:
    """The curve of one family, range and seed."""
    rng = np.random.default_rng([FAMILIES.index(family), range_index, seed])
    low, start, high = _place(range_index, rng)
    knee = max(2.0, start * math.exp(rng.normal(0.13, 0.18)))
    b = np.arange(1, high + 1, dtype=float)
    shape = _SHAPES[family](_Draw(b=b, rng=rng, low=low, high=high, knee=knee))
    edge = max(low + 2, round(start * math.exp(rng.uniform(0.05, 0.7))))
    edge = min(edge, high)
    wished = [start, start, 200 if high > 256 else 16, round(low * (start / low) ** rng.uniform(0.0, 1.2))]
    incumbent = int(np.clip(wished[rng.integers(len(wished))], 1, high))
    edged = family in {"oom_start", "crash_load"}
    return Curve(
        name=f"{family}-{low}-{high}-{seed}",
        family=family,
        low=low,
        start=start,
        high=high,
        bounds_low=low,
        bounds_high=high,
        incumbent=min(incumbent, edge - 1) if edged else incumbent,
        blocks=start * 5,
        step=100 if high > 256 else 10,
        speeds=np.concatenate([[0.0], shape / shape.max() * rng.uniform(800.0, 6000.0)]),
        fails_from=edge if family == "oom_start" else None,
        dies_from=edge if family == "crash_load" else None,
    )


def bench_curves(split: str) -> list[Curve]:
    """All curves of a split: every family, every range, three seeds of its twelve; then three surfaces."""
    seeds = list(SEEDS[split])
    drawn = [
        make_curve(family, place, seeds[place * 3 + index])
        for family in FAMILIES
        for place in range(len(RANGES))
        for index in range(3)
    ]
    return [*drawn, *(_from_surface(entry) for entry in stored(split))]


def _from_surface(entry: dict) -> Curve:
    """A simulated service: a restart under the full load is what its curve shows."""
    surface = surface_of(entry)
    last = int(surface.limits[-1])
    full = float(surface.levels[-1])
    speeds = [surface.at(surface.speeds, max(1, size), full) for size in range(last + 1)]
    return Curve(
        name=f"simulator-{entry['name']}",
        family="simulator",
        low=entry["low"],
        start=entry["start"],
        high=entry["high"],
        bounds_low=int(surface.limits[0]),
        bounds_high=last,
        incumbent=entry["incumbent"],
        blocks=entry["blocks"],
        step=100 if entry["high"] > 256 else 10,
        speeds=np.array(speeds),
        surface=surface,
    )


class BadCurves(ValueError):
    """A file of curves that cannot be read, with the place."""


def read_curves(path: Path) -> list[Curve]:
    """Curves from elsewhere, linear between their points.

    {"curves": [{"name", "low", "start", "high", "incumbent", "blocks", "points", "sweep", "fails_from"}]}
    Raises BadCurves with the place of the first fault.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadCurves(f"{path}: {error}") from error
    entries = document.get("curves") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise BadCurves(f'{path}: an object with a list "curves" is needed')
    return [_from_file(path, number, entry) for number, entry in enumerate(entries)]


def _from_file(path: Path, number: int, entry: dict) -> Curve:
    try:
        return _from_json(entry)
    except (KeyError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise BadCurves(f"{path}: curves[{number}]: {what}") from error


def _pairs(entry: dict, name: str) -> list[tuple[int, float]]:
    """Points in order, checked."""
    pairs = sorted((_whole(size, name), float(speed)) for size, speed in entry[name])
    if len(pairs) < 2 or len({size for size, _ in pairs}) < len(pairs):
        raise ValueError(f"{name}: at least two points at different sizes are needed")
    if not all(math.isfinite(speed) and speed > 0.0 for _, speed in pairs) or pairs[0][0] < 1:
        raise ValueError(f"{name}: sizes from 1 on and speeds above 0 are needed")
    return pairs


def _whole(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError(f"{name}: {value!r} is no whole number")
    return int(value)


def _from_json(entry: dict) -> Curve:
    points = _pairs(entry, "points")
    low, start, high, blocks = (_whole(entry[name], name) for name in ("low", "start", "high", "blocks"))
    sizes, speeds = zip(*points, strict=True)
    if not 1 <= low <= start <= high:
        raise ValueError(f"1 <= low <= start <= high is needed, not {low}, {start}, {high}")
    fails_from = entry.get("fails_from")
    edge = math.inf if fails_from is None else _whole(fails_from, "fails_from")
    wished = entry.get("incumbent")
    incumbent = min(max(start, sizes[0]), sizes[-1]) if wished is None else _whole(wished, "incumbent")
    if not sizes[0] <= incumbent <= sizes[-1]:
        raise ValueError(f"incumbent {incumbent} lies outside the points, {sizes[0]} to {sizes[-1]}")
    if edge <= incumbent:
        raise ValueError(f"fails_from {fails_from} leaves the incumbent {incumbent} without a speed")
    last = max(sizes[-1], high)
    b = np.arange(0, last + 1, dtype=float)
    sweep = zip(*_pairs(entry, "sweep"), strict=True) if entry.get("sweep") else None
    return Curve(
        name=str(entry["name"]),
        family=str(entry.get("family", "file")),
        low=low,
        start=start,
        high=high,
        bounds_low=sizes[0],
        bounds_high=sizes[-1],
        incumbent=incumbent,
        blocks=blocks,
        step=100 if high > 256 else 10,
        speeds=np.interp(b, sizes, speeds),
        fails_from=None if fails_from is None else int(edge),
        sweep=None if sweep is None else np.interp(b, *sweep),
    )
