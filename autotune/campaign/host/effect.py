"""Host effect: how much faster the same setting is with the host settings than without, and how surely."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, unique

from autotune.errors import NotMeasurable
from autotune.model.measurement import Level, Measurement
from autotune.model.service import Fact
from autotune.statistics.compare import Comparison, LaunchReading, compare, mean_reading


@unique
class HostVerdict(Enum):
    """What the launches say."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_EFFECT_SHOWN = "no_effect_shown"


@dataclass(frozen=True, kw_only=True, slots=True)
class HostReading:
    """What one launch read, with the host settings or without."""

    number: int
    with_settings: bool
    level: Level


@dataclass(frozen=True, kw_only=True, slots=True)
class HostEffect:
    """All launches, and the gain of the settings over the host as it was; each bound holds with 95 %."""

    readings: tuple[HostReading, ...]
    settings: tuple[Fact, ...]
    """What became of each setting."""
    without: LaunchReading
    with_settings: LaunchReading
    gain: Comparison

    @property
    def verdict(self) -> HostVerdict:
        """Faster or slower only where the bound on that side says so."""
        if self.gain.better:
            return HostVerdict.FASTER
        return HostVerdict.SLOWER if self.gain.worse else HostVerdict.NO_EFFECT_SHOWN


def launch_order(pairs: int) -> tuple[bool, ...]:
    """With and without in alternation, each pair the other way round, so that a drift cancels out."""
    return tuple(flag for pair in range(pairs) for flag in ((False, True) if pair % 2 else (True, False)))


def effect_of(readings: Sequence[HostReading], settings: tuple[Fact, ...]) -> HostEffect:
    """Compare the two sides. Raises NotMeasurable when one of them has no valid reading."""
    sides = {flag: _side(readings, with_settings=flag) for flag in (True, False)}
    for flag, side in sides.items():
        if not side:
            what = "with" if flag else "without"
            causes = sorted({_why(reading.level) for reading in readings if reading.with_settings == flag})
            raise NotMeasurable(
                f"no valid reading {what} the host settings: {'; '.join(causes)}",
                hint="autotune doctor PROFILE",
            )
    return HostEffect(
        readings=tuple(readings),
        settings=settings,
        without=mean_reading(sides[False]),
        with_settings=mean_reading(sides[True]),
        gain=compare(sides[False], sides[True]),
    )


def _side(readings: Sequence[HostReading], *, with_settings: bool) -> list[LaunchReading]:
    levels = [reading.level for reading in readings if reading.with_settings == with_settings]
    return [
        LaunchReading(tokens_per_second=level.tokens_per_second, half_width=level.half_width)
        for level in levels
        if isinstance(level, Measurement)
    ]


def _why(level: Level) -> str:
    return "" if isinstance(level, Measurement) else f"{level.reason.value} {level.detail}".strip()
