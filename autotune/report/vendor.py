"""Vendor: what the documented procedure would have found and cost, from the readings of this campaign.

Procedure (MindIE performance tuning guide): start at the computed value, go on with the next multiples of
100, stop when throughput falls, keep the value before.
"""

from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from autotune.model.campaign import Campaign
from autotune.report.evidence import Point, PointKind, failed_values, points
from autotune.report.values import setting_values, shape

STEP = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorStep:
    """One value of the procedure; None where it did not start."""

    batch: int
    tokens_per_second: float | None
    estimated: bool
    """Read off the line between neighbours, not launched in this campaign."""
    at_most: bool = False
    """Above everything that was launched, where throughput falls already: no more than the last reading."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorRun:
    """The procedure on this campaign's readings."""

    steps: tuple[VendorStep, ...]
    chosen: VendorStep
    seconds: float
    """Launches of the procedure at this campaign's mean time for one."""
    complete: bool
    """False when the readings end before throughput falls."""


def vendor_run(campaign: Campaign) -> VendorRun | None:
    """None without a bracket to start from, or without a reading there."""
    if campaign.bracket is None:
        return None
    steps: list[VendorStep] = []
    batch, complete = campaign.bracket.start, False
    while not complete:
        step = _step(campaign, batch)
        if step is None or (step.at_most and not (steps and _fell(steps[-1], step))):
            break
        steps.append(step)
        complete = len(steps) > 1 and _fell(steps[-2], step)
        batch = (batch // STEP + 1) * STEP
    if not steps or steps[0].tokens_per_second is None:
        return None
    started = [step for step in steps if step.tokens_per_second is not None]
    return VendorRun(
        steps=tuple(steps),
        chosen=max(started, key=lambda step: step.tokens_per_second or 0.0),
        seconds=len(steps) * _mean_launch_seconds(campaign),
        complete=complete,
    )


def _step(campaign: Campaign, batch: int) -> VendorStep | None:
    measured = points(campaign)
    restarts = [point for point in measured if point.kind is not PointKind.SWEEP and point.batch == batch]
    if restarts:
        mean = fmean(point.tokens_per_second for point in restarts)
        return VendorStep(batch=batch, tokens_per_second=mean, estimated=False)
    if any(
        failure.batch <= batch for failure in failed_values(campaign) if _is_lowest(failure.batch, campaign)
    ):
        return VendorStep(batch=batch, tokens_per_second=None, estimated=False)
    between = _between(measured, float(batch))
    if between is not None:
        return VendorStep(batch=batch, tokens_per_second=between, estimated=True)
    return _beyond(campaign, batch)


def _beyond(campaign: Campaign, batch: int) -> VendorStep | None:
    """A value above all that was launched, when the curve is surely falling there."""
    values, found = setting_values(campaign), shape(campaign)
    if found is None or found.falls_from is None or batch <= found.highest:
        return None
    last = max(values, key=lambda value: value.batch)
    return VendorStep(batch=batch, tokens_per_second=last.tokens_per_second, estimated=True, at_most=True)


def _is_lowest(batch: int, campaign: Campaign) -> bool:
    """Whether nothing at this value or above it was ever measured."""
    return all(point.batch < batch for point in points(campaign))


def _between(measured: tuple[Point, ...], batch: float) -> float | None:
    ordered = sorted((point.batch, point.tokens_per_second) for point in measured)
    for (x0, y0), (x1, y1) in pairwise(ordered):
        if x0 <= batch <= x1 and x0 < x1:
            return y0 + (y1 - y0) * (batch - x0) / (x1 - x0)
    return None


def _fell(before: VendorStep, after: VendorStep) -> bool:
    if after.tokens_per_second is None:
        return True
    return before.tokens_per_second is not None and after.tokens_per_second < before.tokens_per_second


def _mean_launch_seconds(campaign: Campaign) -> float:
    whole = [launch.seconds.total for launch in campaign.launches if launch.last is not None]
    return fmean(whole) if whole else 0.0
