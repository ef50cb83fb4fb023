"""Shares: how much of the gain the batch size gives, and how much the settings that changed with it."""

from dataclasses import dataclass
from itertools import pairwise

from autotune.model.campaign import Campaign
from autotune.model.settings import Settings
from autotune.report.evidence import Point, PointKind, incumbent, points, recommended
from autotune.report.figures import over
from autotune.report.values import SettingValue, alike, rest, setting_values


@dataclass(frozen=True, kw_only=True, slots=True)
class Shares:
    """The gain in two steps: first the other settings at the old batch size, then the batch size."""

    bundle: float
    """Gain of the other settings at the incumbent's batch size, a fraction."""
    batch: float
    """Gain of the batch size on top of that."""
    old_batch: int
    new_batch: int
    estimated: bool
    """The new settings were not launched at the old batch size: the step is read off the curve."""


def shares(campaign: Campaign) -> Shares | None:
    """None where nothing but the batch size changed, or where the readings do not part the two."""
    kept, found = incumbent(campaign), recommended(campaign)
    if kept is None or found is None or rest(kept.settings) == rest(found.settings):
        return None
    middle, estimated = _at_old_batch(campaign, kept.settings, found.settings)
    bundle = over(middle, kept.tokens_per_second) if middle is not None else None
    batch = over(found.tokens_per_second, middle) if middle is not None else None
    if bundle is None or batch is None:
        return None
    return Shares(
        bundle=bundle,
        batch=batch,
        old_batch=kept.settings.max_batch_size,
        new_batch=found.settings.max_batch_size,
        estimated=estimated,
    )


def _at_old_batch(campaign: Campaign, old: Settings, new: Settings) -> tuple[float | None, bool]:
    """Tokens a second of the new settings at the old batch size, and whether that is an estimate."""
    curve = alike(setting_values(campaign), new)
    for value in curve:
        if value.batch == old.max_batch_size:
            return value.tokens_per_second, False
    between = _between([(value.batch, value.tokens_per_second) for value in curve], old.max_batch_size)
    if between is not None:
        return between, True
    return _by_sweep(campaign, curve, old.max_batch_size, new.max_batch_size), True


def _by_sweep(campaign: Campaign, curve: tuple[SettingValue, ...], old: int, new: int) -> float | None:
    """The sweep's shape from the new to the old batch size, at the height of the restart."""
    sweep = [point for point in points(campaign) if point.kind is PointKind.SWEEP]
    places = _places(sweep)
    at_old, at_new = _between(places, old), _between(places, new)
    height = next((value.tokens_per_second for value in curve if value.batch == new), None)
    if at_old is None or not at_new or height is None:
        return None
    return height * at_old / at_new


def _places(sweep: list[Point]) -> list[tuple[float, float]]:
    return sorted((point.batch, point.tokens_per_second) for point in sweep)


def _between(places: list[tuple[float, float]], batch: float) -> float | None:
    """On the straight line between the neighbours; None outside them."""
    for (x0, y0), (x1, y1) in pairwise(places):
        if x0 <= batch <= x1 and x0 < x1:
            return y0 + (y1 - y0) * (batch - x0) / (x1 - x0)
    return None
