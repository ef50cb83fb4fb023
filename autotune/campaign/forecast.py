"""Forecast: launches and time of a campaign, said before anything is touched."""

from dataclasses import dataclass
from statistics import median

from autotune.model.campaign import Campaign, Forecast
from autotune.model.launch import LaunchRecord, Outcome

_LOOKS_FIRST, _LOOKS_USUAL, _LOOKS_LATE = 10, 14, 28
_SHORTEST_BATCH_SECONDS = 15.0
_STRATEGY_LAUNCHES = {"guide": (3, 5), "scout": (3, 5), "grid": (8, 12), "multi": (10, 14)}
_CONFIRMATION_LAUNCHES = (2, 4)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """What one launch takes, in seconds of the host's clock; from earlier runs where there are any."""

    start_seconds: float = 150.0
    stop_seconds: float = 25.0
    warm_up_seconds: float = 5.0
    level_seconds: float | None = None
    """Measured time of one launch; None: from the lengths of the requests."""

    def scaled(self, time_scale: float) -> "Timing":
        """The same for a service whose clock runs faster than the host's."""
        return Timing(
            start_seconds=self.start_seconds / time_scale,
            stop_seconds=self.stop_seconds / time_scale,
            warm_up_seconds=self.warm_up_seconds / time_scale,
        )


def timing_of(campaigns: tuple[Campaign, ...]) -> Timing | None:
    """Medians over the launches of earlier campaigns; None when not one of them was measured."""
    ended = [launch for campaign in campaigns for launch in campaign.launches if _measured(launch)]
    if not ended:
        return None
    return Timing(
        start_seconds=median(launch.seconds.start for launch in ended),
        stop_seconds=median(launch.seconds.stop for launch in ended),
        warm_up_seconds=median(launch.seconds.warm_up for launch in ended),
        level_seconds=median(launch.seconds.measure for launch in ended),
    )


def forecast(
    *,
    strategy: str,
    max_launches: int,
    timing: Timing,
    residence_seconds: float,
    cap_seconds: float,
    time_scale: float,
) -> Forecast:
    """Launches from the strategy, time from `timing` and the steady-window rule.

    `residence_seconds` (how long a request runs) and `cap_seconds` are in the service's clock.
    """
    low, high = _STRATEGY_LAUNCHES[strategy]
    launches_low = min(max_launches, 1 + low)
    launches_high = min(max_launches, 1 + high + _CONFIRMATION_LAUNCHES[1])
    usual = min(max_launches, 1 + round((low + high) / 2) + round(sum(_CONFIRMATION_LAUNCHES) / 2))
    around = timing.start_seconds + timing.warm_up_seconds + timing.stop_seconds

    def seconds(launches: int, looks: int) -> float:
        level = timing.level_seconds
        if level is None:
            level = min(cap_seconds, _level_seconds(residence_seconds, looks)) / time_scale
        return launches * (around + level)

    return Forecast(
        launches_low=launches_low,
        launches_high=launches_high,
        seconds_low=seconds(launches_low, _LOOKS_FIRST),
        seconds=seconds(usual, _LOOKS_USUAL),
        seconds_high=seconds(launches_high, _LOOKS_LATE),
    )


def _level_seconds(residence_seconds: float, looks: int) -> float:
    """Two residence times to settle, then batches of at least 15 s."""
    return 2 * residence_seconds + looks * max(residence_seconds, _SHORTEST_BATCH_SECONDS)


def _measured(launch: LaunchRecord) -> bool:
    return launch.outcome is Outcome.ENDED and launch.last is not None
