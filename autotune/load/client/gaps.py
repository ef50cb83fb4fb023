"""Gap counts: the times between events, folded into narrow logarithmic classes, one table a slice of time."""

import math
from array import array
from collections import Counter
from dataclasses import dataclass, field

CLASSES_A_UNIT = 200
"""Classes a factor of e: each is 0.5 % wide."""
_TICKS = 200_000.0
"""First rough count in steps of 5 microseconds, since an integer is cheaper than a logarithm."""


@dataclass(kw_only=True, slots=True)
class GapSlice:
    """The gaps of one slice of time; seconds are those of the host."""

    start: float
    classes: Counter[int] = field(default_factory=Counter)
    zero: int = 0
    """Events that came in the same read as the one before."""
    total: float = 0.0
    """Sum of all gaps in seconds."""

    def add(self, gaps: "array[float]") -> None:
        """Count gaps into their classes."""
        self.total += math.fsum(gaps)
        for ticks, count in Counter(map(int, map(_TICKS.__mul__, gaps))).items():
            if ticks <= 0:
                self.zero += count
            else:
                self.classes[round(CLASSES_A_UNIT * math.log((ticks + 0.5) / _TICKS))] += count


@dataclass(kw_only=True, slots=True)
class GapCounts:
    """All slices in order."""

    slice_seconds: float
    slices: list[GapSlice] = field(default_factory=list)

    def fold(self, gaps: "array[float]", now: float) -> None:
        """Take the gaps that were seen since the last fold."""
        if not self.slices or now >= self.slices[-1].start + self.slice_seconds:
            self.slices.append(GapSlice(start=now))
        self.slices[-1].add(gaps)


def seconds_of_class(number: int) -> float:
    """The middle of a class."""
    return math.exp(number / CLASSES_A_UNIT)
