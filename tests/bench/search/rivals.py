"""What others do: each rival chooses the value with the highest single reading."""

import math
from collections.abc import Callable

import numpy as np

from tests.bench.search.oracle import Oracle

Rival = Callable[[Oracle, np.random.Generator], int | None]


class _Readings:
    """Launches and remembers; the choice is the highest reading."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.speeds: dict[int, float] = {}

    def at(self, size: float) -> float:
        """Reading at the whole value nearest to size, inside the bounds; 0 for a failure."""
        curve = self._oracle.curve
        whole = int(min(max(round(size), curve.bounds_low), curve.bounds_high))
        value = self._oracle.standard(whole) or 0.0
        self.speeds[whole] = max(value, self.speeds.get(whole, 0.0))
        return value

    @property
    def best(self) -> int | None:
        """The highest."""
        size = max(self.speeds, key=lambda key: self.speeds[key])
        return size if self.speeds[size] > 0.0 else None


def guide_rule(oracle: Oracle, _: np.random.Generator) -> int | None:
    """Start, next multiples of the step, stop at the first drop."""
    readings, curve = _Readings(oracle), oracle.curve
    size, last = curve.start, readings.at(curve.start)
    while size < curve.bounds_high:
        size = min((size // curve.step + 1) * curve.step, curve.bounds_high)
        value = readings.at(size)
        if value < last:
            break
        last = value
    return readings.best


def _grid(divisor: int) -> Rival:
    def run(oracle: Oracle, _: np.random.Generator) -> int | None:
        readings, curve = _Readings(oracle), oracle.curve
        step = max(1, curve.step // divisor)
        failed = 0
        for size in [*range(-(-curve.low // step) * step, curve.high + 1, step), curve.high]:
            failed = failed + 1 if readings.at(size) <= 0.0 else 0
            if failed >= 2:
                break
        return readings.best

    return run


def pso(oracle: Oracle, rng: np.random.Generator) -> int | None:
    """Particle swarm as the vendor's optimizer ships it: 10 particles x 5 rounds, w 1.8, c1 = c2 = 2.

    One default run comes before it.
    """
    readings, curve = _Readings(oracle), oracle.curve
    readings.at(curve.start)
    low, high = float(curve.bounds_low), float(curve.bounds_high)
    place = rng.uniform(low, high, 10)
    speed = rng.uniform(0.0, 1.0, 10)
    own, own_value = place.copy(), np.full(10, -math.inf)
    for _ in range(5):
        values = np.array([readings.at(each) for each in place])
        better = values > own_value
        own[better], own_value[better] = place[better], values[better]
        leader = own[int(np.argmax(own_value))]
        speed = 1.8 * speed + 2.0 * rng.random(10) * (own - place) + 2.0 * rng.random(10) * (leader - place)
        place = low + np.mod(place + speed - low, max(1.0, high - low))
    return readings.best


def tpe(oracle: Oracle, rng: np.random.Generator) -> int | None:
    """Optuna's TPE sampler, 25 trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    readings, curve = _Readings(oracle), oracle.curve
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=int(rng.integers(2**31)))
    )
    study.optimize(
        lambda trial: readings.at(trial.suggest_int("b", curve.bounds_low, curve.bounds_high)), n_trials=25
    )
    return readings.best


def doubling_golden(oracle: Oracle, _: np.random.Generator) -> int | None:
    """Double from the low end until it drops, then golden section in log, about 12 launches in all."""
    readings, curve = _Readings(oracle), oracle.curve
    sizes, values = [curve.bounds_low], [readings.at(curve.bounds_low)]
    while sizes[-1] < curve.bounds_high and (len(values) < 2 or values[-1] >= values[-2]):
        sizes.append(min(2 * sizes[-1], curve.bounds_high))
        values.append(readings.at(sizes[-1]))
    left, right = math.log(sizes[max(0, len(sizes) - 3)]), math.log(sizes[-1])
    share = (math.sqrt(5.0) - 1.0) / 2.0
    a, b = right - share * (right - left), left + share * (right - left)
    at_a, at_b = readings.at(math.exp(a)), readings.at(math.exp(b))
    for _round in range(max(0, 10 - len(sizes))):
        if at_a >= at_b:
            right, b, at_b = b, a, at_a
            a = right - share * (right - left)
            at_a = readings.at(math.exp(a))
        else:
            left, a, at_a = a, b, at_b
            b = left + share * (right - left)
            at_b = readings.at(math.exp(b))
    return readings.best


def random_25(oracle: Oracle, rng: np.random.Generator) -> int | None:
    """25 values drawn evenly."""
    readings, curve = _Readings(oracle), oracle.curve
    for _ in range(25):
        readings.at(rng.integers(curve.bounds_low, curve.bounds_high + 1))
    return readings.best


RIVALS: dict[str, Rival] = {
    "guide rule": guide_rule,
    "grid, step 100": _grid(1),
    "grid, step 25": _grid(4),
    "doubling + golden": doubling_golden,
    "PSO 10x5": pso,
    "TPE 25": tpe,
    "random 25": random_25,
}
