"""calibrate: step costs from measured throughputs, and how well they fit.

What a scheduler decides hardly depends on how long its rounds take, so the time of a run is nearly linear
in the step costs: their weights are counted once by a simulation (`Work`), the costs are fitted to the
measured throughputs by least squares, and both are repeated until nothing changes.
"""

from collections.abc import Sequence as Values
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from autotune.errors import UsageError
from autotune.simulator.closed_loop import Load
from autotune.simulator.cost import StepCost
from autotune.simulator.policies import Rules
from autotune.simulator.reading import STEADY, Reading, Window, steady_state, whole_run
from autotune.simulator.work import COEFFICIENTS, coefficients

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float64]

_PASSES = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredLaunch:
    """One throughput that was measured, and what it was measured with."""

    rules: Rules
    load: Load
    """With `requests` the whole run was read; without, the steady state."""
    tokens_per_second: float
    error: float = 0.02
    """Relative standard error of the reading, a fraction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Coefficient:
    """One fitted step cost."""

    name: str
    seconds: float
    relative_error: float
    """Standard error over value, as the readings and the prior leave it; large when they say nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """Fitted step costs and how well they fit."""

    cost: StepCost
    coefficients: tuple[Coefficient, ...]
    residuals: tuple[float, ...]
    """Predicted over measured, minus 1, in the order of the launches."""
    predicted: tuple[float, ...]
    """Tokens a second."""

    @property
    def rms(self) -> float:
        """Root mean square of the residuals."""
        return float((sum(value**2 for value in self.residuals) / len(self.residuals)) ** 0.5)

    @property
    def worst(self) -> float:
        """Largest residual, without its sign."""
        return max(abs(value) for value in self.residuals)


def calibrate(
    launches: Values[MeasuredLaunch],
    start: StepCost,
    *,
    window: Window = STEADY,
    looseness: float = 1.0,
) -> Calibration:
    """Fit step costs to measured launches.

    `start` is the prior guess, in the right order of magnitude; `looseness` is the standard deviation of
    the logarithm of each coefficient around it. A coefficient that is 0 in `start` stays 0. Raises
    UsageError when there is nothing to fit to.
    """
    if not launches:
        raise UsageError("calibration needs at least one measured launch")
    cost = start
    errors: dict[str, float] = {}
    for _ in range(_PASSES):
        readings = [_simulate(launch, cost, window) for launch in launches]
        cost, errors = _fit(launches, readings, prior=start, looseness=looseness)
    return _judge(launches, cost, errors, window)


def _simulate(launch: MeasuredLaunch, cost: StepCost, window: Window) -> Reading:
    if launch.load.requests is not None:
        return whole_run(launch.rules, cost, launch.load)
    return steady_state(launch.rules, cost, launch.load, window)


def _fit(
    launches: Values[MeasuredLaunch], readings: Values[Reading], *, prior: StepCost, looseness: float
) -> tuple[StepCost, dict[str, float]]:
    """One least-squares fit with the weights held; also the relative error of each coefficient."""
    import numpy as np
    from scipy.optimize import least_squares

    names = [name for name, value in zip(COEFFICIENTS, coefficients(prior), strict=True) if value > 0]
    places = [COEFFICIENTS.index(name) for name in names]
    first = np.array([coefficients(prior)[place] for place in places])
    weights = np.array([reading.work.weights() for reading in readings], dtype=float)[:, places]
    tokens = np.array([reading.tokens for reading in readings], dtype=float)
    measured = np.array([launch.tokens_per_second for launch in launches])
    errors = np.array([launch.error for launch in launches])

    def misfit(logs: "Vector") -> "Vector":
        seconds = weights @ (first * np.exp(logs))
        return np.concatenate([np.log(tokens / seconds / measured) / errors, logs / looseness])

    found = least_squares(misfit, np.zeros(len(names)), x_scale=looseness)
    slopes = np.asarray(found.jac, dtype=float)
    spread = np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
    values = first * np.exp(found.x)
    cost = replace(prior, **{name: float(value) for name, value in zip(names, values, strict=True)})
    return cost, {name: float(value) for name, value in zip(names, spread, strict=True)}


def _judge(
    launches: Values[MeasuredLaunch], cost: StepCost, errors: dict[str, float], window: Window
) -> Calibration:
    predicted = tuple(_simulate(launch, cost, window).tokens_per_second for launch in launches)
    pairs = zip(predicted, launches, strict=True)
    return Calibration(
        cost=cost,
        coefficients=tuple(
            Coefficient(name=name, seconds=getattr(cost, name), relative_error=errors[name])
            for name in COEFFICIENTS
            if name in errors
        ),
        residuals=tuple(value / launch.tokens_per_second - 1 for value, launch in pairs),
        predicted=predicted,
    )
