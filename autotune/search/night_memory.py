"""Memory: what earlier runs of the same fingerprint say about each setting, as a night needs it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from statistics import median

from autotune.errors import LaunchCause
from autotune.model.campaign import Campaign
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.settings import Settings
from autotune.search.evidence import reading_of
from autotune.statistics.compare import LaunchReading, Spread
from autotune.statistics.drift import Departure, Night, departure, pooled_spread

SURE = 0.998
"""Confidence of the final word on a drift, two-sided."""
NEW_LEVEL_NIGHTS = 3
"""So many nights in a row outside the band, and the level is a new one."""
MOST_NIGHTS = 60
_BLOCKS_NIGHTS = 3
"""Blocks are counted, not estimated: two nights with another number are the usual from then on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """One setting, with every value said, and its readings since its level last changed, oldest first."""

    settings: Settings
    nights: tuple[Night, ...]
    outside: tuple[Night, ...] = ()
    """The newest nights, as far as they lie outside the band of the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """All that is known before a night begins."""

    known: tuple[Known, ...] = ()
    groups: tuple[Night, ...] = ()
    """Launches of one setting in one night, where there were several: they tell the spread."""
    blocks: int | None = None
    """Usual number of KV blocks of a start."""
    fails_at: int | None = None
    """Smallest max_batch_size that did not start for want of memory."""
    runs: int = 0

    def of(self, settings: Settings) -> tuple[Night, ...]:
        """Earlier nights of exactly this setting."""
        return next((known.nights for known in self.known if known.settings == settings), ())

    def spread(self, tonight: Iterable[Night] = ()) -> Spread:
        """Launch-to-launch spread from history and tonight."""
        return pooled_spread((*self.groups, *tonight))


def completed(settings: Settings, found: Settings) -> Settings:
    """The setting with what it leaves open filled in from the service's own configuration."""
    given = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return replace(found, **{name: value for name, value in given.items() if value is not None})


def remember(campaigns: Sequence[Campaign], *, concurrency: int) -> Memory:
    """Read the runs of one fingerprint, oldest first; only readings at this concurrency count.

    A night whose reading lies outside the band of the nights before is not taken into the band, so that a
    regression stays visible; three such nights in a row are the new level.
    """
    known: dict[Settings, Known] = {}
    groups: list[Night] = []
    for campaign in campaigns[-MOST_NIGHTS:]:
        spread = pooled_spread(groups)
        for settings, night in _nights_of(campaign, concurrency).items():
            known[settings] = _with_night(known.get(settings), settings, night, spread)
            if len(night) > 1:
                groups.append(night)
    blocks = [count for campaign in campaigns[-_BLOCKS_NIGHTS:] if (count := first_blocks(campaign))]
    return Memory(
        known=tuple(known.values()),
        groups=tuple(groups),
        blocks=round(median(blocks)) if blocks else None,
        fails_at=_fails_at(campaigns),
        runs=len(campaigns),
    )


def first_blocks(campaign: Campaign) -> int | None:
    """KV blocks of the first launch that tells."""
    return next((launch.blocks for launch in campaign.launches if launch.blocks), None)


def judge(nights: Sequence[Night], night: Night, spread: Spread, confidence: float) -> Departure | None:
    """Hold a night against those before it."""
    return departure(nights, night, spread=spread, confidence=confidence)


def _nights_of(campaign: Campaign, concurrency: int) -> dict[Settings, Night]:
    found: dict[Settings, list[LaunchReading]] = {}
    for launch in campaign.launches:
        reading = reading_of(launch, concurrency)
        if launch.purpose is Purpose.SCOUT or launch.outcome is Outcome.FAILED or reading is None:
            continue
        found.setdefault(completed(launch.settings, campaign.description.incumbent), []).append(reading)
    return {settings: tuple(readings) for settings, readings in found.items()}


def _with_night(before: Known | None, settings: Settings, night: Night, spread: Spread) -> Known:
    if before is None:
        return Known(settings=settings, nights=(night,))
    departed = judge(before.nights, night, spread, SURE)
    if departed is None or not departed.outside:
        return Known(settings=settings, nights=(*before.nights, night))
    outside = (*before.outside, night)
    if len(outside) >= NEW_LEVEL_NIGHTS:
        return Known(settings=settings, nights=outside)
    return replace(before, outside=outside)


def _fails_at(campaigns: Sequence[Campaign]) -> int | None:
    """The newest word on a size counts."""
    failed: dict[int, bool] = {}
    for launch in (launch for campaign in campaigns for launch in campaign.launches):
        failed[launch.settings.max_batch_size] = _lacked_memory(launch)
    return min((size for size, lacked in failed.items() if lacked), default=None)


def _lacked_memory(launch: LaunchRecord) -> bool:
    return launch.outcome is Outcome.FAILED and launch.cause is LaunchCause.MEMORY
