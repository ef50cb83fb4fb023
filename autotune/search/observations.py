"""Observations: the history of a search as rows that a belief can be held against."""

import math
from dataclasses import dataclass

from autotune.errors import LaunchCause
from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Measurement
from autotune.search.evidence import died, reading_of
from autotune.search.space import Space

_NORMAL_95 = 1.96
_LONG_SECONDS = 140.0
"""From here on a level has seen how restless the service is."""
_RARE_PREEMPTIONS = 0.01
"""Preemptions a finished request up to which the blocks count as not full."""
_FULL_SHARE = 0.97
_LEAST_SHARE = 0.5
_EDGES = frozenset({LaunchCause.MEMORY, LaunchCause.CONFIG, LaunchCause.GRAPH})
"""Causes that a larger size shares; the others say nothing about sizes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One speed at one batch size."""

    size: int
    log_speed: float
    error: float
    """Standard error of log_speed within its launch."""
    launch: int
    """Number of its launch; rows of one launch share that launch's luck."""
    swept: bool
    """True for a sweep level, where `size` is the concurrency under a higher limit."""
    foreign: bool
    """True for an incumbent whose other values differ from those of a candidate of its size."""
    concurrency: int = 0
    """Of the level; in a sweep `size` is the restart that it stands for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Observations:
    """All rows in order, and where the service does not work."""

    rows: tuple[Row, ...]
    works_at: int
    """Largest size or level that gave a number; 0 when there is none."""
    fails_at: int | None
    """Smallest size above it that was refused, lacked memory or died under load; None when none did."""
    starts_failed: int
    """Launches that did not come up for want of memory."""
    knee: float | None = None
    """Mean running requests where the blocks were full, as the service counted them; None when unknown."""
    unfilled: float = 0.0
    """Most running requests, in the mean, that were seen without a preemption; 0 when unknown."""

    @property
    def restarted(self) -> tuple[int, ...]:
        """Sizes that were started with a candidate's settings and measured, ascending."""
        return tuple(sorted({row.size for row in self.rows if not row.swept and not row.foreign}))

    @property
    def sweep(self) -> tuple[Row, ...]:
        """The rows of the sweep, in order."""
        return tuple(row for row in self.rows if row.swept)


def observe(history: History, space: Space) -> Observations:
    """Read the history. Confirmation launches are readings like any other.

    A restart that works outweighs a failure seen below it; a sweep level does not.
    """
    share, unrest = _running_share(history, space), _unrest(history)
    rows = [row for launch in history.launches for row in _rows(launch, space, share, unrest)]
    edges = [edge for launch in history.launches if (edge := _edge(launch)) is not None]
    restarted = max((row.size for row in rows if not row.swept), default=0)
    fails_at = min((edge for edge in edges if edge > restarted), default=None)
    works = (row.size for row in rows if fails_at is None or row.size < fails_at)
    return Observations(
        rows=tuple(rows),
        works_at=max(works, default=0),
        fails_at=fails_at,
        starts_failed=sum(launch.cause is LaunchCause.MEMORY for launch in history.launches),
        knee=_knee(history),
        unfilled=_unfilled(history),
    )


def _full(level: Measurement, limit: int) -> bool:
    """The blocks bound this level: it preempted, and fewer ran than the limit and the clients allow."""
    if level.running_mean is None or not level.preemptions or not level.completed:
        return False
    often = level.preemptions > _RARE_PREEMPTIONS * level.completed
    return often and level.running_mean < _FULL_SHARE * min(limit, level.concurrency)


def _knee(history: History) -> float | None:
    """Median of what ran where the blocks were full."""
    full = sorted(
        level.running_mean
        for launch in history.launches
        for level in launch.measurements
        if _full(level, launch.settings.max_batch_size) and level.running_mean is not None
    )
    return full[len(full) // 2] if full else None


def _unfilled(history: History) -> float:
    running = [
        level.running_mean
        for launch in history.launches
        for level in launch.measurements
        if level.running_mean is not None and level.preemptions == 0
    ]
    return max(running, default=0.0)


def _running_share(history: History, space: Space) -> float:
    """What runs in the mean over what the limit allows, by the first restart that could fill it."""
    for launch in history.launches:
        level = launch.last
        if launch.purpose is Purpose.SCOUT or level is None or level.concurrency != space.concurrency:
            continue
        limit = launch.settings.max_batch_size
        if level.running_mean and not _full(level, limit) and limit < level.concurrency:
            return min(max(level.running_mean / limit, _LEAST_SHARE), 1.0)
    return 1.0


def _unrest(history: History) -> float:
    """Squared standard error times seconds, by the long levels; infinite when there is none."""
    found = sorted(
        (level.half_width / _NORMAL_95) ** 2 * level.seconds
        for launch in history.launches
        if launch.purpose is not Purpose.SCOUT
        for level in launch.measurements
        if level.seconds >= _LONG_SECONDS
    )
    return found[len(found) // 2] if found else math.inf


def _rows(launch: LaunchRecord, space: Space, share: float, unrest: float) -> list[Row]:
    if launch.purpose is Purpose.SCOUT:
        limit = launch.settings.max_batch_size
        levels = [level for level in launch.measurements if level.concurrency <= limit]
        return [_swept(launch, level, share, unrest) for level in levels if level.tokens_per_second > 0.0]
    reading = reading_of(launch, space.concurrency)
    if reading is None or launch.outcome is Outcome.FAILED:
        return []
    size = launch.settings.max_batch_size
    return [
        Row(
            size=size,
            log_speed=math.log(reading.tokens_per_second),
            error=reading.log_error,
            launch=launch.number,
            swept=False,
            foreign=launch.settings != space.settings_for(size),
            concurrency=space.concurrency,
        )
    ]


def _swept(launch: LaunchRecord, level: Measurement, share: float, unrest: float) -> Row:
    """The level as the restart that would run as many; where the blocks are full the limit tells nothing.

    A short level can't see how restless the service is and states a wide interval. Long ones of the same
    service know better, but not of waves in what is swept: the truth is taken to lie between the two.
    """
    stated = level.half_width / _NORMAL_95
    known = math.sqrt(unrest / level.seconds) if level.seconds > 0.0 else math.inf
    limit = launch.settings.max_batch_size
    size = level.concurrency
    if level.running_mean and not _full(level, limit):
        size = min(limit, max(1, round(level.running_mean / share)))
    return Row(
        size=size,
        log_speed=math.log(level.tokens_per_second),
        error=math.sqrt(stated * min(stated, known)),
        launch=launch.number,
        swept=True,
        foreign=False,
        concurrency=level.concurrency,
    )


def _edge(launch: LaunchRecord) -> int | None:
    """The size at which this launch shows an edge: it did not start, or died under so much load."""
    if launch.outcome is not Outcome.FAILED:
        return None
    limit = launch.settings.max_batch_size
    if died(launch):
        return min(limit, launch.levels[-1].concurrency)
    return limit if launch.cause in _EDGES else None
