"""Forecast: launches and time of a campaign, said before anything is touched and again after every launch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from autotune.model.campaign import Campaign, Forecast
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.move import VerdictCode
from autotune.search.sweep import FAR_SECONDS, RESTLESS_SECONDS

_LOOKS_FIRST, _LOOKS_USUAL, _LOOKS_LATE = 10, 14, 40
_SHORTEST_BATCH_SECONDS = 15.0
_SWEEP_SHORTEST, _SWEEP_LONGEST = 20.0, 90.0
_SWEEP_RESIDENCES = 2.0
"""A sweep level reads until it is sure: two residence times mostly."""
SWEEP_LEVELS = 8
_SEARCH_LAUNCHES = {"guide": (2, 3, 5), "scout": (2, 3, 5), "grid": (7, 8, 11), "multi": (4, 6, 8)}
"""Candidates of each strategy: few, usual, many (search bench)."""
_CONFIRMATION_LAUNCHES = (0, 2, 4)
_WITH_SWEEP = frozenset({"scout", "multi"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """What one launch takes, in seconds of the host's clock; from earlier runs where there are any."""

    start_seconds: float = 150.0
    stop_seconds: float = 25.0
    warm_up_seconds: float = 5.0
    level_seconds: float | None = None
    """Measured time of one restart; None: from the lengths of the requests."""
    sweep_seconds: float | None = None
    """Measured time of one whole sweep; None: the same."""
    launches: float | None = None
    """Launches of a whole campaign; None: as strategies usually take."""

    @property
    def around(self) -> float:
        """Of one launch without its measuring."""
        return self.start_seconds + self.warm_up_seconds + self.stop_seconds

    def scaled(self, time_scale: float) -> "Timing":
        """The same for a service whose clock runs faster than the host's."""
        return Timing(
            start_seconds=self.start_seconds / time_scale,
            stop_seconds=self.stop_seconds / time_scale,
            warm_up_seconds=self.warm_up_seconds / time_scale,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Residence:
    """How long a request runs in the service, in seconds of the service's clock."""

    restart: float
    sweep: float
    """In the middle of the sweep, where prefill is done in small batches."""
    restless: bool = False
    """The speed is known to wander, so that levels are read as long as they may be."""


def timing_of(campaigns: Sequence[Campaign]) -> Timing | None:
    """Medians over the launches of earlier campaigns; None when not one of them was measured."""
    launches = [launch for campaign in campaigns for launch in campaign.launches]
    ended = [launch for launch in launches if _measured(launch)]
    restarts = [launch for launch in ended if launch.purpose is not Purpose.SCOUT]
    sweeps = [launch for launch in ended if launch.purpose is Purpose.SCOUT]
    whole = [len(campaign.launches) for campaign in campaigns if _searched(campaign)]
    if not restarts:
        return None
    return Timing(
        start_seconds=median(launch.seconds.start for launch in ended),
        stop_seconds=median(launch.seconds.stop for launch in ended),
        warm_up_seconds=median(launch.seconds.warm_up for launch in ended),
        level_seconds=median(launch.seconds.measure for launch in restarts),
        sweep_seconds=median(launch.seconds.measure for launch in sweeps) if sweeps else None,
        launches=median(whole) if whole else None,
    )


def forecast(
    *,
    strategy: str,
    max_launches: int,
    timing: Timing,
    residence: Residence,
    cap_seconds: float,
    time_scale: float,
) -> Forecast:
    """Launches from the strategy or from earlier runs, time from `timing` and the steady-window rule.

    `residence` and `cap_seconds` are in the service's clock.
    """
    few, usual, many = (min(max_launches, count) for count in _launches(strategy, timing.launches))

    def seconds(launches: int, looks: int) -> float:
        level = timing.level_seconds
        if level is None:
            looks = _LOOKS_LATE if residence.restless else looks
            level = min(cap_seconds, _level_seconds(residence.restart, looks)) / time_scale
        sweep = timing.sweep_seconds
        if sweep is None:
            sweep = SWEEP_LEVELS * min(cap_seconds, _sweep_level_seconds(residence)) / time_scale
        sweeps = 1 if strategy in _WITH_SWEEP and launches > 1 else 0
        return launches * timing.around + (launches - sweeps) * level + sweeps * sweep

    return Forecast(
        launches_low=few,
        launches_high=many,
        seconds_low=seconds(few, _LOOKS_FIRST),
        seconds=seconds(usual, _LOOKS_USUAL),
        seconds_high=seconds(many, _LOOKS_LATE),
    )


def remaining(campaign: Campaign, told: Forecast, max_launches: int) -> Forecast:
    """What is still to come after the launches so far, with the time that this run's own launches took.

    `told` is the forecast from before the start; its counts of launches stand.
    """
    done = len(campaign.launches)
    own = timing_of((replace(campaign, ended_wall=None),))
    if own is None:
        return told
    each = own.around + (own.level_seconds or 0.0)
    usual = round((told.launches_low + told.launches_high) / 2)
    low, middle, high = (
        max(0, min(count, max_launches) - done) for count in (told.launches_low, usual, told.launches_high)
    )
    return Forecast(
        launches_low=low,
        launches_high=high,
        seconds_low=low * each,
        seconds=middle * each,
        seconds_high=high * each,
    )


def _launches(strategy: str, known: float | None) -> tuple[int, int, int]:
    """Few, usual and many launches of a whole campaign, incumbent, sweep and confirmation included."""
    fixed = 2 if strategy in _WITH_SWEEP else 1
    pairs = zip(_SEARCH_LAUNCHES[strategy], _CONFIRMATION_LAUNCHES, strict=True)
    few, usual, many = (fixed + search + confirming for search, confirming in pairs)
    if known is None:
        return few, usual, many
    return min(few, round(known)), round(known), max(many, round(known))


def _level_seconds(residence: float, looks: int) -> float:
    """Two residence times to settle, then batches of at least 15 s."""
    return 2 * residence + looks * max(residence, _SHORTEST_BATCH_SECONDS)


def _sweep_level_seconds(residence: Residence) -> float:
    """One residence time to settle and one to read; of a restless service as long as the search asks for."""
    if residence.restless:
        return (FAR_SECONDS + RESTLESS_SECONDS) / 2.0
    own = residence.sweep
    return own + min(max(_SWEEP_SHORTEST, _SWEEP_RESIDENCES * own), _SWEEP_LONGEST)


def _searched(campaign: Campaign) -> bool:
    """Whether the campaign came to an answer; a stopped one does not tell how many launches it takes."""
    stopped = {VerdictCode.INTERRUPTED, VerdictCode.NOT_MEASURABLE}
    return campaign.verdict is not None and campaign.verdict.code not in stopped


def _measured(launch: LaunchRecord) -> bool:
    return launch.outcome is Outcome.ENDED and launch.last is not None
