"""From what the strategy ended with to the answer: readings of incumbent and best, and the gain."""

from collections.abc import Sequence

from autotune.model.campaign import Reading, Verdict
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.move import Finish, VerdictCode
from autotune.model.settings import Settings
from autotune.search.evidence import pooled
from autotune.search.limits import compared_levels
from autotune.statistics.compare import LaunchReading, Spread, compare, launch_spread, mean_reading


def verdict_of(launches: Sequence[LaunchRecord], finish: Finish) -> Verdict:
    """The answer for the settings that the strategy names; the gain is over the incumbent found."""
    incumbent = _incumbent(launches)
    incumbent_reading = reading_of(launches, incumbent) if incumbent else None
    best = reading_of(launches, finish.settings) if finish.settings else None
    if incumbent is None or best is None or incumbent_reading is None or finish.settings == incumbent:
        return Verdict(code=finish.code, reason=finish.reason, incumbent=incumbent_reading, best=best)
    sides = _sides(launches, incumbent), _sides(launches, best.settings)
    gain = compare(*sides, spread=_spread(launches))
    return Verdict(
        code=finish.code,
        reason=finish.reason,
        incumbent=incumbent_reading,
        best=best,
        gain=gain.gain,
        gain_low=gain.low,
        gain_high=gain.high,
        compared=(len(sides[0]), len(sides[1])),
    )


def cut_short(launches: Sequence[LaunchRecord], reason: str) -> Verdict:
    """The answer of a campaign that did not end by itself: the best that was measured so far."""
    measured = {launch.settings for launch in launches if _measured(launch)}
    best: Reading | None = None
    for settings in measured:
        reading = reading_of(launches, settings)
        if reading and (best is None or reading.tokens_per_second > best.tokens_per_second):
            best = reading
    finish = Finish(settings=best.settings if best else None, code=VerdictCode.INTERRUPTED, reason=reason)
    return verdict_of(launches, finish)


def reading_of(launches: Sequence[LaunchRecord], settings: Settings | None) -> Reading | None:
    """One reading over all launches of a setting; None when not one was measured."""
    of_it = [launch for launch in launches if launch.settings == settings and _measured(launch)]
    if not of_it or settings is None:
        return None
    side = _readings(of_it)
    mean = mean_reading(side, spread=launch_spread((side,)))
    return Reading(
        settings=settings,
        tokens_per_second=mean.tokens_per_second,
        half_width=mean.half_width,
        launches=len(of_it),
        measurement=of_it[-1].last,
    )


def _sides(launches: Sequence[LaunchRecord], settings: Settings) -> list[LaunchReading]:
    """The confirmation launches where there are any: a selected maximum is not evidence for itself."""
    of_it = [launch for launch in launches if launch.settings == settings and _measured(launch)]
    confirmed = [launch for launch in of_it if launch.purpose is Purpose.CONFIRMATION]
    return _readings(confirmed or of_it)


def _spread(launches: Sequence[LaunchRecord]) -> Spread:
    """From everything that was launched more than once, as the confirmation judged it."""
    own = [each for each in launches if each.purpose is not Purpose.SCOUT and _measured(each)]
    settings = dict.fromkeys(launch.settings for launch in own)
    return launch_spread([_readings([each for each in own if each.settings == one]) for one in settings])


def _readings(launches: Sequence[LaunchRecord]) -> list[LaunchReading]:
    return [pooled(levels) for launch in launches if (levels := compared_levels(launch))]


def _incumbent(launches: Sequence[LaunchRecord]) -> Settings | None:
    found = [launch.settings for launch in launches if launch.purpose is Purpose.INCUMBENT]
    return found[0] if found else None


def _measured(launch: LaunchRecord) -> bool:
    """A restart with a reading; a sweep is none, whatever its limit."""
    own = launch.purpose is not Purpose.SCOUT
    return own and launch.outcome is Outcome.ENDED and launch.last is not None
