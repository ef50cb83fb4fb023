"""StepTimes: how long each round takes, with the noise and the faults of the emulated device."""

from collections.abc import Callable

from autotune.emulator.faults import Faults
from autotune.emulator.streams import seeded
from autotune.simulator.cost import StepCost
from autotune.simulator.noise import Noise, StepNoise
from autotune.simulator.rounds import Round

_SECONDS_AN_HOUR = 3600.0


class StepTimes:
    """Seconds of the service's own clock for a round; the same seed and launch give the same times."""

    def __init__(
        self, cost: StepCost, noise: Noise, *, seed: int, launch: int, faults: Callable[[], Faults]
    ) -> None:
        self._cost = cost
        self._faults = faults
        self._random = seeded("outliers", seed, launch)
        drawn = seeded("launch", seed, launch)
        factor = max(0.1, 1.0 + faults().launch_noise * drawn.gauss(0.0, 1.0))
        if launch == 1:
            factor *= faults().cold_first_launch
        self._noise = StepNoise(noise, seed=drawn.randrange(2**32), launch_factor=factor)

    def seconds(self, work: Round, moment: float) -> float:
        """How long the round takes that begins at this moment of the service's clock."""
        faults = self._faults()
        seconds = self._cost.seconds(work) * self._noise.factor(moment)
        if faults.drift_per_hour:
            seconds *= 1.0 + faults.drift_per_hour * moment / _SECONDS_AN_HOUR
        if faults.outlier_rate and self._random.random() < faults.outlier_rate:
            seconds += faults.outlier_seconds
        return seconds
