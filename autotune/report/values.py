"""Values: what is known of each setting over all of its restarts, and the shape of the curve they make."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from statistics import fmean

from autotune.model.campaign import Campaign
from autotune.model.launch import Outcome, Purpose
from autotune.model.measurement import Distribution, Measurement
from autotune.model.settings import Settings
from autotune.report.evidence import Point, PointKind, points


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingValue:
    """One setting and the last valid level of each of its restarts."""

    settings: Settings
    levels: tuple[Measurement, ...]

    @property
    def batch(self) -> int:
        """Its max_batch_size."""
        return self.settings.max_batch_size

    @property
    def tokens_per_second(self) -> float:
        """Mean over the restarts."""
        return fmean(level.tokens_per_second for level in self.levels)

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of that mean as the levels have it, a fraction."""
        return math.hypot(*(level.half_width for level in self.levels)) / len(self.levels)

    @property
    def low(self) -> float:
        """Lower end of that interval."""
        return self.tokens_per_second * (1 - self.half_width)

    @property
    def high(self) -> float:
        """Upper end of it."""
        return self.tokens_per_second * (1 + self.half_width)

    @property
    def preemptions(self) -> int | None:
        """Most preemptions that one of the restarts counted; None where the service does not say."""
        return max(
            (level.preemptions for level in self.levels if level.preemptions is not None), default=None
        )

    def mean(self, figure: Callable[[Measurement], float | None]) -> float | None:
        """Mean of one figure over the restarts that have it."""
        known = [value for level in self.levels if (value := figure(level)) is not None]
        return fmean(known) if known else None

    def mean_of(self, which: Callable[[Measurement], Distribution]) -> float | None:
        """Mean of a latency's means."""
        return self.mean(lambda level: which(level).mean)


MARGIN = 0.01
"""Values that read closer than this are told as equal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """Where the measured curve has its top, and what comes after it."""

    top: int
    """Value with the highest mean."""
    falls_from: int | None
    """Smallest value above the top that reads surely lower: the intervals are apart."""
    swept_from: int | None
    """Running requests from which on a sweep reads surely lower than at its own best."""
    preempts_from: int | None
    """Smallest value at which the service preempted requests."""
    preempts_swept: int | None
    """Running requests from which on it preempted some in a sweep."""
    counts_preemptions: bool
    is_all: bool
    """No value was measured with other settings beside the batch size."""
    highest: int
    """Largest value that was measured."""
    enough: int
    """Smallest value whose mean is within MARGIN of the top's."""


def setting_values(campaign: Campaign) -> tuple[SettingValue, ...]:
    """Every setting that a restart measured, by ascending max_batch_size; sweeps are left out."""
    levels: dict[Settings, list[Measurement]] = {}
    for launch in campaign.launches:
        is_restart = launch.purpose is not Purpose.SCOUT and launch.outcome is Outcome.ENDED
        if is_restart and launch.last is not None:
            levels.setdefault(launch.settings, []).append(launch.last)
    found = (SettingValue(settings=settings, levels=tuple(own)) for settings, own in levels.items())
    return tuple(sorted(found, key=lambda value: value.batch))


def alike(values: Iterable[SettingValue], settings: Settings) -> tuple[SettingValue, ...]:
    """Those that differ from `settings` in the batch size and what follows it, and in nothing else."""
    return tuple(value for value in values if rest(value.settings) == rest(settings))


def rest(settings: Settings) -> Settings:
    """The settings without the batch size and the prefill limits that follow it."""
    return replace(settings, max_batch_size=1, max_prefill_batch_size=None, max_prefill_tokens=None)


def shape(campaign: Campaign) -> Shape | None:
    """The shape of the curve through the values that are like the best one; None with fewer than two."""
    values = setting_values(campaign)
    if not values:
        return None
    top = max(values, key=lambda value: value.tokens_per_second)
    curve = alike(values, top.settings)
    if len(curve) < 2:  # noqa: PLR2004 - one value has no shape
        return None
    lower = [value.batch for value in curve if value.batch > top.batch and value.high < top.low]
    preempting = [value.batch for value in curve if value.preemptions]
    sweep = [point for point in points(campaign) if point.kind is PointKind.SWEEP]
    return Shape(
        top=top.batch,
        falls_from=min(lower, default=None),
        swept_from=_swept_from(sweep, top.batch),
        preempts_from=min(preempting, default=None),
        preempts_swept=min(
            (round(point.batch) for point in sweep if point.measurement.preemptions), default=None
        ),
        is_all=len(curve) == len(values),
        counts_preemptions=any(value.preemptions is not None for value in curve),
        highest=curve[-1].batch,
        enough=min(
            value.batch
            for value in curve
            if value.tokens_per_second >= (1.0 - MARGIN) * top.tokens_per_second
        ),
    )


def _swept_from(sweep: list[Point], top: int) -> int | None:
    """Only levels above the sweep's own best one: those below it are still on the way up."""
    best = max(sweep, key=lambda point: point.tokens_per_second, default=None)
    if best is None:
        return None
    above = (point for point in sweep if point.batch > max(best.batch, top) and point.high < best.low)
    return min((round(point.batch) for point in above), default=None)
