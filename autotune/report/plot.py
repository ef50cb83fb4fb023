"""Plot: a chart as a value, before anything is drawn; the page's SVG and matplotlib both draw it."""

import math
from dataclasses import dataclass, field

from autotune.report.evidence import PointKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """One measured point; `low` and `high` are the ends of its interval, where it has one."""

    kind: PointKind
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    tip: tuple[str, ...] = ()
    """What hovering or focusing tells, a line each."""
    name: str = ""
    """Written beside the mark; for the few that matter."""
    flagged: bool = False
    """Drawn with an extra sign: the service preempted requests."""
    best: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """A line through points."""

    kind: PointKind
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cross:
    """An x at which there is no y: a start that failed."""

    x: float
    tip: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A straight line across the chart with a name: at an x, or at a y."""

    name: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Band:
    """A shaded range of x with a name."""

    name: str
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Plot:
    """A whole chart."""

    title: str
    description: str
    """What the chart shows, for those who cannot see it."""
    x_label: str
    y_label: str
    marks: tuple[Mark, ...]
    traces: tuple[Trace, ...] = ()
    crosses: tuple[Cross, ...] = ()
    rules: tuple[Rule, ...] = ()
    band: Band | None = None
    knee: Band | None = None
    """Between the top and the first value that reads surely lower."""

    @property
    def x_range(self) -> tuple[float, float]:
        """From the smallest to the largest x that must be seen."""
        seen = [mark.x for mark in self.marks] + [cross.x for cross in self.crosses]
        seen += [rule.x for rule in self.rules if rule.x is not None]
        if self.band is not None:
            seen.append(self.band.low)
            widest = BAND_REACH * max(seen)
            seen.append(min(self.band.high, widest))
        return padded(seen, 0.04)

    @property
    def y_range(self) -> tuple[float, float]:
        """From the smallest to the largest y that must be seen, and never below 0, where there is nothing.

        Intervals are included, but not those of a sweep: its levels are read roughly.
        """
        seen = [mark.y for mark in self.marks]
        exact = [mark for mark in self.marks if mark.kind is not PointKind.SWEEP]
        seen += [end for mark in exact for end in (mark.low, mark.high) if end is not None]
        seen += [rule.y for rule in self.rules if rule.y is not None]
        low, high = padded(seen, 0.10)
        return max(low, 0.0), high


BAND_REACH = 1.3
"""A bracket that goes on further than so many times the last value is cut there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """Maps a range of values to a range of pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of `value`; what lies outside is put on the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ticks:
    """Round values on an axis."""

    values: tuple[float, ...] = field(default=())

    def texts(self) -> tuple[str, ...]:
        """With as many digits as their distance needs."""
        step = self.values[1] - self.values[0] if len(self.values) > 1 else 1.0
        digits = max(0, -math.floor(math.log10(step)))
        return tuple(f"{value:,.{digits}f}" for value in self.values)


def ticks(low: float, high: float, wanted: int) -> Ticks:
    """About `wanted` multiples of 1, 2 or 5 times a power of ten between `low` and `high`."""
    raw = (high - low) / max(wanted, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first, last = math.ceil(low / step), math.floor(high / step)
    return Ticks(values=tuple(step * place for place in range(first, last + 1)))


def padded(values: list[float], share: float) -> tuple[float, float]:
    """Smallest and largest value with some air, never below 0 when nothing is; one value gets air too."""
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    air = share * (high - low) or 0.1 * abs(high) or 1.0
    return (max(0.0, low - air) if low >= 0 else low - air), high + air
