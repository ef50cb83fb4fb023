"""Gap counts: the times between events, folded into narrow logarithmic classes, one table a slice of time."""

import math
import struct
from array import array
from collections import Counter
from dataclasses import dataclass, field
from itertools import repeat
from operator import rshift

_CLASS_BITS = 8
_DROPPED_BITS = 52 - _CLASS_BITS
"""A double holds 52 bits of its fraction; of these the class keeps the first 8."""
_SHORTEST_SECONDS = 5e-6
"""No two reads of a connection are so near each other: such a gap is one within a read."""


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
        """Count gaps, none negative, into their classes."""
        self.total += math.fsum(gaps)
        bits = memoryview(gaps).cast("B").cast("q")
        for number, count in Counter(map(rshift, bits, repeat(_DROPPED_BITS))).items():
            if number < _SHORTEST_CLASS:
                self.zero += count
            else:
                self.classes[number] += count


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


def class_of_seconds(seconds: float) -> int:
    """The class of a gap: the bits of the number but for its last ones, so 0.2 to 0.4 % wide."""
    bits: int = struct.unpack("q", struct.pack("d", seconds))[0]
    return bits >> _DROPPED_BITS


def seconds_of_class(number: int) -> float:
    """The middle of a class."""
    bits = (number << _DROPPED_BITS) + (1 << (_DROPPED_BITS - 1))
    middle: float = struct.unpack("d", struct.pack("q", bits))[0]
    return middle


_SHORTEST_CLASS = class_of_seconds(_SHORTEST_SECONDS)
