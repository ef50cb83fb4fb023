"""Waves: what repeats itself in the speed with every generation of requests, taken out of its values.

Requests of one length that were admitted together end together, and those after them are admitted together:
the speed swings with a period of about one residence time for as long as the test goes on. Over whole periods
that cancels, so it says nothing of how sure their mean is, and read as a wander it would make it seem unsure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

SHORTEST, LONGEST = 0.5, 1.5
"""Periods that are tried, in residence times: preemption and queues make it another one than the mean."""
_FEWEST_PERIODS = 2
_FEWEST_VALUES = 4
"""In a period: fewer show no wave."""
_LEAST_SHARE = 0.5
"""Of the variance that must repeat itself, beyond what chance explains."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Period:
    """A period that was tried."""

    length: int
    """In values."""
    profile: tuple[float, ...]
    """The mean of each phase."""
    share: float
    """Of the variance that it explains, beyond chance."""


def without_waves(values: Sequence[float], seconds: float, residence: float) -> tuple[float, ...]:
    """Values of the last whole periods, `seconds` each, with the wave taken out; none where there is no wave.

    What is left is widened for the degrees of freedom that the profile of the wave took.
    """
    shortest = max(_FEWEST_VALUES, math.ceil(SHORTEST * residence / seconds))
    longest = min(len(values) // _FEWEST_PERIODS, math.floor(LONGEST * residence / seconds))
    tried = [_tried(values, length) for length in range(shortest, longest + 1)]
    best = max(tried, key=lambda period: period.share, default=None)
    if best is None or best.share < _LEAST_SHARE:
        return ()
    part = _whole(values, best.length)
    mean = math.fsum(part) / len(part)
    widened = math.sqrt((len(part) - 1) / (len(part) - best.length))
    return tuple(
        mean + widened * (value - best.profile[index % best.length]) for index, value in enumerate(part)
    )


def _whole(values: Sequence[float], length: int) -> Sequence[float]:
    return values[len(values) % length :]


def _tried(values: Sequence[float], length: int) -> _Period:
    part = _whole(values, length)
    periods = [part[at : at + length] for at in range(0, len(part), length)]
    profile = tuple(math.fsum(phase) / len(periods) for phase in zip(*periods, strict=True))
    mean = math.fsum(part) / len(part)
    total = math.fsum((value - mean) ** 2 for value in part)
    explained = len(periods) * math.fsum((value - mean) ** 2 for value in profile)
    chance = (length - 1) / (len(part) - 1)
    share = (explained / total - chance) / (1.0 - chance) if total else 0.0
    return _Period(length=length, profile=profile, share=share)
