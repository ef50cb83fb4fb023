"""StepNoise: how much longer or shorter a round takes than its cost, repeatable by seed."""

import math
import random
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise:
    """Relative standard deviations of the time of a round; 0 switches a kind off."""

    step: float = 0.0
    """From round to round, independent."""
    drift: float = 0.0
    """Slow wander within a launch."""
    drift_seconds: float = 20.0
    """Time over which the wander forgets itself."""


QUIET = Noise()
_DRIFT_TICK = 1.0


class StepNoise:
    """A stream of factors with mean about 1; asked once a round, in order."""

    def __init__(self, noise: Noise, *, seed: int | str, launch_factor: float = 1.0) -> None:
        self._noise = noise
        self._generator = random.Random(seed)  # noqa: S311 - repeatable noise, no secret
        self._launch_factor = launch_factor
        self._wander = self._generator.gauss(0.0, 1.0) if noise.drift else 0.0
        self._next_tick = _DRIFT_TICK
        self._keep = math.exp(-_DRIFT_TICK / noise.drift_seconds)
        self._base = self._drifted()

    def factor(self, now: float) -> float:
        """Factor of the round that begins at `now` seconds."""
        if self._noise.drift:
            while now >= self._next_tick:
                self._move()
        if self._noise.step:
            return self._base * math.exp(self._generator.gauss(0.0, self._noise.step))
        return self._base

    def _move(self) -> None:
        self._next_tick += _DRIFT_TICK
        fresh = math.sqrt(1.0 - self._keep**2)
        self._wander = self._keep * self._wander + fresh * self._generator.gauss(0.0, 1.0)
        self._base = self._drifted()

    def _drifted(self) -> float:
        return self._launch_factor * math.exp(self._noise.drift * self._wander)
