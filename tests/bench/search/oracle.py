"""The oracle of the search bench: it alone knows the truth, and it holds the clock and the counts.

Noise sigma is the relative standard deviation of one standard load test; 16 % of its variance is between
launches and cannot be tested away, the rest falls as 1 / duration. Half of the studies are dirty: the
first launch may read 6 to 15 % low, the speed may drift by 3 % in 20 launches, one launch in 33 is 10 %
low. Noise is keyed by curve, repetition and launch, so that methods meet the same luck.
"""

import math
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from autotune.statistics.window import SteadyWindow, WindowStatus
from tests.bench.search.curves import Curve

LEVEL_CAP = 600.0
_BUCKET_SECONDS = 1.0
_CHUNK = 60
_RUNNING = 1000.0
"""Requests that the window is told to run: with their completions it knows how long one stays."""


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What a study is done under."""

    noise: float
    dirty: str = "half"
    """half | never | always."""
    bias: tuple[float, float] = (-0.04, 0.04)
    """Range of the smooth difference between sweep and restart over the levels."""
    between: float = 0.16
    """Share of the variance of a standard test that is between launches."""


@dataclass(frozen=True, kw_only=True)
class Read:
    """One level: what it read, half its interval, how long it took."""

    tokens_per_second: float
    half_width: float
    seconds: float
    running_mean: float | None = None
    preemptions: int | None = None
    """Of 1,000 requests."""


@dataclass
class Oracle:
    """One study on one curve."""

    curve: Curve
    conditions: Conditions
    repetition: int
    launches: int = 0
    levels: int = 0
    seconds: float = 0.0
    failures: int = 0
    _searched: float | None = None
    _size: int = 0
    _factor: float = 1.0
    _rng: np.random.Generator = field(default_factory=np.random.default_rng)

    def __post_init__(self) -> None:
        """Draw what stays the same over the study."""
        self._key = [crc32(self.curve.name.encode()), self.repetition]
        rng = np.random.default_rng(self._key)
        slow = rng.random() < 0.25
        self.restart_seconds = rng.uniform(600.0, 1200.0) if slow else rng.uniform(60.0, 300.0)
        self.warm_up_seconds = rng.uniform(20.0, 60.0)
        self.test_seconds = rng.uniform(120.0, 480.0)
        self.residence = rng.uniform(6.0, 40.0)
        dirty = {"half": rng.random() < 0.5, "never": False, "always": True}[self.conditions.dirty]
        cold, drift = rng.random() < 0.5, rng.random() < 0.3
        self._cold = rng.uniform(0.06, 0.15) if dirty and cold else 0.0
        self._drift = 0.03 / 20.0 * rng.choice([-1.0, 1.0]) if dirty and drift else 0.0
        self._outliers = 0.03 if dirty else 0.0
        self._sweep_bias = self._draw_bias(rng)

    def _draw_bias(self, rng: np.random.Generator) -> np.ndarray:
        """Smooth in the logarithm of the level, inside the range that the conditions name."""
        low, high = self.conditions.bias
        x = np.log(np.arange(1, len(self.curve.speeds) + 1))
        ends = rng.uniform(low, high, size=2)
        reach = (x - math.log(max(1, self.curve.low))) / math.log(self.curve.high / max(1, self.curve.low))
        wave = (
            0.25
            * (high - low)
            * rng.uniform(-1, 1)
            * np.sin(rng.uniform(1.5, 4.0) * reach + rng.uniform(0.0, 6.3))
        )
        return np.clip(ends[0] + (ends[1] - ends[0]) * np.clip(reach, 0.0, 1.0) + wave, low, high)

    def search_is_over(self) -> None:
        """The first launch of the confirmation is next."""
        self._searched = self.seconds if self._searched is None else self._searched

    @property
    def search_seconds(self) -> float:
        """Before the confirmation."""
        return self.seconds if self._searched is None else self._searched

    def start(self, size: int) -> bool:
        """Launch; False when it does not come up."""
        self.launches += 1
        self._rng = np.random.default_rng([*self._key, self.launches])
        sigma = self.conditions.noise * math.sqrt(self.conditions.between)
        self._factor = 1.0 + self._rng.normal(0.0, sigma) + self._drift * (self.launches - 1)
        if self.launches == 1:
            self._factor *= 1.0 - self._cold
        if self._rng.random() < self._outliers:
            self._factor *= 0.9
        self._size = size
        if self.curve.fails_from is not None and size >= self.curve.fails_from:
            self.seconds += 0.8 * self.restart_seconds
            self.failures += 1
            return False
        self.seconds += self.restart_seconds + self.warm_up_seconds
        return True

    def _speed(self, concurrency: int) -> float:
        """True token/s of the running launch under this concurrency."""
        speeds = self.curve.speeds
        if concurrency >= self._size:
            return float(speeds[self._size])
        if self.curve.surface is not None:
            surface = self.curve.surface
            return surface.at(surface.speeds, self._size, concurrency)
        if self.curve.sweep is not None:
            return float(self.curve.sweep[min(concurrency, len(self.curve.sweep) - 1)])
        return float(speeds[concurrency]) * (1.0 + float(self._sweep_bias[concurrency]))

    def standard(self, size: int) -> float | None:
        """What every rival does: launch, one standard test. None when it fails."""
        if not self.start(size):
            return None
        duration = self.test_seconds * min(4.0, self.curve.best / float(self.curve.speeds[size]))
        if not self.curve.works(size):
            self.seconds += 0.3 * duration
            self.failures += 1
            return None
        self.seconds += duration
        within = self.conditions.noise * math.sqrt(1.0 - self.conditions.between)
        return float(self.curve.speeds[size]) * self._factor * (1.0 + self._rng.normal(0.0, within))

    def measure(
        self,
        concurrency: int,
        half_width: float,
        stop_below: float | None = None,
        longest_seconds: float | None = None,
    ) -> Read | None:
        """One sequential level on the running launch. None when the service dies of it."""
        self.levels += 1
        if self.curve.dies_from is not None and min(self._size, concurrency) >= self.curve.dies_from:
            self.seconds += 0.3 * self.test_seconds
            self.failures += 1
            return None
        speed = self._speed(concurrency)
        window = SteadyWindow(
            half_width=half_width,
            cap_seconds=min(LEVEL_CAP, longest_seconds or LEVEL_CAP),
            stop_below=stop_below,
            bucket_seconds=_BUCKET_SECONDS,
        )
        status = self._fed(window, speed)
        assert status.tokens_per_second is not None
        assert status.half_width is not None
        self.seconds += status.seconds + status.dropped_seconds
        running, preemptions = self._counted(concurrency)
        return Read(
            tokens_per_second=status.tokens_per_second,
            half_width=status.half_width,
            seconds=status.seconds,
            running_mean=running,
            preemptions=preemptions,
        )

    def _fed(self, window: SteadyWindow, speed: float) -> WindowStatus:
        """What the product's own window makes of the level: its rules say how long, how wide, and when lost.

        The speed of a bucket scatters so that a standard test has the noise that the conditions name.
        """
        share = (1.0 - self.conditions.between) * self.test_seconds / _BUCKET_SECONDS
        within = self.conditions.noise * math.sqrt(share)
        tokens = speed * self._factor * _BUCKET_SECONDS
        completions = round(_RUNNING / self.residence * _BUCKET_SECONDS)
        while not window.status().done:
            for luck in self._rng.normal(1.0, within, size=_CHUNK):
                window.add(tokens * luck, _RUNNING, completions)
                if window.status().done:
                    break
        return window.status()

    def _counted(self, concurrency: int) -> tuple[float | None, int | None]:
        """What a simulated service counts; the drawn curves have no such counters."""
        surface = self.curve.surface
        if surface is None:
            return None, None
        running = surface.at(surface.running, self._size, concurrency)
        return running, round(1000.0 * surface.at(surface.preemptions, self._size, concurrency))
