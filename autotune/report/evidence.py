"""Evidence: the points, failures, times and reasons that every form of the report draws on."""

from dataclasses import dataclass
from enum import Enum, unique

from autotune.errors import LaunchCause
from autotune.model.campaign import Campaign, Decision, Reading
from autotune.model.launch import LaunchRecord, Outcome, PhaseSeconds, Purpose
from autotune.model.measurement import Measurement
from autotune.model.move import VerdictCode


@unique
class PointKind(Enum):
    """What a point of the curve stands for; each has a mark of its own."""

    INCUMBENT = "incumbent"
    CANDIDATE = "candidate"
    CONFIRMATION = "confirmation"
    SWEEP = "sweep"


KIND_OF_PURPOSE = {
    Purpose.INCUMBENT: PointKind.INCUMBENT,
    Purpose.CANDIDATE: PointKind.CANDIDATE,
    Purpose.CONFIRMATION: PointKind.CONFIRMATION,
    Purpose.SCOUT: PointKind.SWEEP,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One valid level on the curve."""

    kind: PointKind
    launch: int
    batch: float
    """max_batch_size of the launch; in a sweep the mean number of requests that ran."""
    measurement: Measurement

    @property
    def tokens_per_second(self) -> float:
        """Generated tokens a second."""
        return self.measurement.tokens_per_second

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.tokens_per_second * (1 - self.measurement.half_width)

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.tokens_per_second * (1 + self.measurement.half_width)


@dataclass(frozen=True, kw_only=True, slots=True)
class FailedValue:
    """A max_batch_size at which a launch failed."""

    launch: int
    batch: int
    cause: LaunchCause


def points(campaign: Campaign) -> tuple[Point, ...]:
    """Every level of a sweep, and the last valid level of every other launch."""
    return tuple(point for launch in campaign.launches for point in _points_of(launch))


def failed_values(campaign: Campaign) -> tuple[FailedValue, ...]:
    """The values that did not start, or did not live through their load."""
    return tuple(
        FailedValue(
            launch=launch.number,
            batch=launch.settings.max_batch_size,
            cause=launch.cause or LaunchCause.UNKNOWN,
        )
        for launch in campaign.launches
        if launch.outcome is Outcome.FAILED
    )


def launch_decisions(campaign: Campaign) -> dict[int, Decision]:
    """Number of a launch -> the decision that asked for it."""
    asked = {
        decision.after_launches: decision for decision in campaign.decisions if decision.kind == "launch"
    }
    found = {launch.number: asked.get(place) for place, launch in enumerate(campaign.launches)}
    return {number: decision for number, decision in found.items() if decision is not None}


def reasons(campaign: Campaign) -> dict[int, str]:
    """Number of a launch -> why the strategy asked for it."""
    asked = {number: decision.reason for number, decision in launch_decisions(campaign).items()}
    return {launch.number: asked.get(launch.number, "") for launch in campaign.launches}


def total_seconds(campaign: Campaign) -> PhaseSeconds:
    """How the time of all launches was spent."""
    times = [launch.seconds for launch in campaign.launches]
    return PhaseSeconds(
        start=sum(time.start for time in times),
        warm_up=sum(time.warm_up for time in times),
        measure=sum(time.measure for time in times),
        stop=sum(time.stop for time in times),
    )


def elapsed_seconds(campaign: Campaign) -> float:
    """From start to end; for a campaign without an end, what its launches took."""
    if campaign.ended_wall is None:
        return total_seconds(campaign).total
    return campaign.ended_wall - campaign.started_wall


def incumbent(campaign: Campaign) -> Reading | None:
    """What the verdict says of the setting found on the host, else its first valid launch."""
    if campaign.verdict is not None and campaign.verdict.incumbent is not None:
        return campaign.verdict.incumbent
    return next(filter(None, map(_reading, _launches(campaign, Purpose.INCUMBENT))), None)


def recommended(campaign: Campaign) -> Reading | None:
    """What the campaign advises to run; None when it has no proven advice."""
    verdict = campaign.verdict
    if verdict is None:
        return None
    if verdict.code in {VerdictCode.IMPROVED, VerdictCode.EQUAL_SMALLER}:
        return verdict.best
    return incumbent(campaign) if verdict.code is VerdictCode.INCUMBENT_BEST else None


def best(campaign: Campaign) -> Reading | None:
    """The best setting as the verdict has it, else the fastest restart so far; not always advice."""
    if campaign.verdict is not None and campaign.verdict.best is not None:
        return campaign.verdict.best
    restarts = [launch for launch in campaign.launches if launch.purpose is not Purpose.SCOUT]
    readings = list(filter(None, map(_reading, restarts)))
    return max(readings, key=lambda reading: reading.tokens_per_second, default=None)


def _points_of(launch: LaunchRecord) -> tuple[Point, ...]:
    kind = KIND_OF_PURPOSE[launch.purpose]
    if launch.outcome is Outcome.FAILED and kind is not PointKind.SWEEP:
        return ()
    levels = launch.measurements if kind is PointKind.SWEEP else launch.measurements[-1:]
    return tuple(
        Point(kind=kind, launch=launch.number, batch=_batch(launch, level), measurement=level)
        for level in levels
    )


def _batch(launch: LaunchRecord, level: Measurement) -> float:
    limit = launch.settings.max_batch_size
    if launch.purpose is not Purpose.SCOUT:
        return float(limit)
    return level.running_mean if level.running_mean is not None else float(min(limit, level.concurrency))


def _launches(campaign: Campaign, purpose: Purpose) -> tuple[LaunchRecord, ...]:
    return tuple(launch for launch in campaign.launches if launch.purpose is purpose)


def _reading(launch: LaunchRecord) -> Reading | None:
    if launch.last is None or launch.outcome is Outcome.FAILED:
        return None
    return Reading(
        settings=launch.settings,
        tokens_per_second=launch.last.tokens_per_second,
        half_width=launch.last.half_width,
        launches=1,
        measurement=launch.last,
    )
