"""Evidence: what the launches of a history say about each setting."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autotune.errors import LaunchCause
from autotune.model.because import Because
from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Invalid, InvalidReason, Measurement
from autotune.model.move import Finish, Measure, VerdictCode
from autotune.model.settings import Settings
from autotune.statistics.compare import LaunchReading

MOST_TRIES = 2
"""Launches without a reading after which a setting is given up; the same for levels of a launch."""
_LEAST_WIDTH = 1e-4
"""Half-width that a level's weight is not computed below."""
_REFUSALS = frozenset({LaunchCause.CONFIG, LaunchCause.READ_BACK})
"""Causes that a second launch of the same setting cannot mend."""


def reading_of(launch: LaunchRecord, concurrency: int) -> LaunchReading | None:
    """What a launch read at the concurrency of the comparison: its valid levels there, weighted."""
    levels = [
        level
        for level in launch.measurements
        if level.concurrency == concurrency and level.tokens_per_second > 0.0
    ]
    return pooled(levels) if levels else None


def pooled(levels: Sequence[Measurement]) -> LaunchReading:
    """Levels of one launch as one reading, each weighted by its precision."""
    weights = [1.0 / max(level.half_width, _LEAST_WIDTH) ** 2 for level in levels]
    total = math.fsum(weights)
    mean = math.fsum(w * level.tokens_per_second for w, level in zip(weights, levels, strict=True)) / total
    return LaunchReading(tokens_per_second=mean, half_width=1.0 / math.sqrt(total))


def died(launch: LaunchRecord) -> bool:
    """The service did not live through its last level."""
    last = launch.levels[-1] if launch.levels else None
    return isinstance(last, Invalid) and last.reason is InvalidReason.SERVICE_DIED


def level_wanted(launch: LaunchRecord, concurrency: int) -> bool:
    """The running launch has no reading yet and is worth another level."""
    invalid = sum(isinstance(level, Invalid) for level in launch.levels)
    return reading_of(launch, concurrency) is None and invalid < MOST_TRIES and not died(launch)


def reading_move(
    history: History,
    concurrency: int,
    half_width: float,
    *,
    reason: str,
    because: Because = Because.READ_SETTING,
    stop_below: float | None = None,
) -> Measure | None:
    """The level that the running launch still owes, if any."""
    running = history.running
    if running is None or running.purpose is Purpose.SCOUT or not level_wanted(running, concurrency):
        return None
    return Measure(
        concurrency=concurrency,
        half_width=half_width,
        stop_below=stop_below,
        reason=reason,
        because=because,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The launches of one setting, summed up."""

    readings: tuple[LaunchReading, ...] = ()
    fruitless: int = 0
    """Launches that failed or ended without a reading."""
    memory_failures: int = 0
    refused: bool = False
    """The service refuses this setting; launching it again is of no use."""

    @property
    def given_up(self) -> bool:
        """No further launch should be spent on this setting."""
        return self.refused or self.fruitless >= MOST_TRIES

    @property
    def usable(self) -> bool:
        """It was measured and did not fail more often than it was measured."""
        return bool(self.readings) and self.fruitless <= len(self.readings)


def gather(launches: Iterable[LaunchRecord], concurrency: int) -> Evidence:
    """Sum up launches of one setting. Sweeps are no readings: another limit bound them."""
    readings: list[LaunchReading] = []
    fruitless = memory = 0
    refused = False
    for launch in launches:
        if launch.outcome is Outcome.FAILED:
            fruitless += 1
            memory += launch.cause is LaunchCause.MEMORY
            refused = refused or launch.cause in _REFUSALS
            continue
        reading = None if launch.purpose is Purpose.SCOUT else reading_of(launch, concurrency)
        if reading is not None:
            readings.append(reading)
        elif launch.outcome is Outcome.ENDED or not level_wanted(launch, concurrency):
            fruitless += launch.purpose is not Purpose.SCOUT
    return Evidence(readings=tuple(readings), fruitless=fruitless, memory_failures=memory, refused=refused)


def evidence_of(history: History, settings: Settings, concurrency: int) -> Evidence:
    """What all launches of exactly these settings say."""
    return gather(history.of(settings), concurrency)


def memory_ceiling(history: History) -> int | None:
    """Smallest max_batch_size that failed for memory twice: nothing from there on is tried."""
    failed: dict[int, int] = {}
    for launch in history.launches:
        if launch.outcome is Outcome.FAILED and launch.cause is LaunchCause.MEMORY:
            size = launch.settings.max_batch_size
            failed[size] = failed.get(size, 0) + 1
    return min((size for size, count in failed.items() if count >= MOST_TRIES), default=None)


def first_blocks(history: History) -> int | None:
    """KV blocks that the first launch to know them reported.

    Later launches differ by little and would only make the bracket wander.
    """
    return next((launch.blocks for launch in history.launches if launch.blocks), None)


def hopeless(history: History, concurrency: int) -> bool:
    """Nothing was ever measured, and not for want of memory: more launches would end the same way."""
    if any(launch.measurements for launch in history.launches):
        return False
    over = [
        launch
        for launch in history.launches
        if launch.cause is not LaunchCause.MEMORY
        and (launch.outcome is not Outcome.PENDING or not level_wanted(launch, concurrency))
    ]
    return len(over) >= 2 * MOST_TRIES


def no_reading(reason: str) -> Finish:
    """The end of a search that has nothing to recommend."""
    return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason=reason, because=Because.NO_READING)


def read_or_give_up(
    history: History, concurrency: int, half_width: float, *, stop_below: float | None = None
) -> Measure | Finish | None:
    """What every search does before it decides: read the running launch, or end where nothing ever reads."""
    level = reading_move(history, concurrency, half_width, reason="read this setting", stop_below=stop_below)
    if level is None and hopeless(history, concurrency):
        return no_reading("no launch gave a reading")
    return level
