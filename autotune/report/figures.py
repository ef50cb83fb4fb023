"""Figures: numbers, intervals, durations and dates as people write them in each language."""

from dataclasses import dataclass
from datetime import datetime, timezone

SECONDS_PER_MINUTE = 60
MINUTES_PER_HOUR = 60
MISSING = "–"


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """How one language writes its figures."""

    percent: str
    """What follows the number."""
    to: str
    """Between the ends of an interval."""
    percent_twice: bool
    """Whether both ends of an interval carry the sign."""
    hours: str
    minutes: str
    seconds: str


ENGLISH_STYLE = Style(percent=" %", to=" to ", percent_twice=False, hours=" h", minutes=" min", seconds=" s")
CHINESE_STYLE = Style(percent="%", to="～", percent_twice=True, hours=" 小时", minutes=" 分", seconds=" 秒")


def percent(fraction: float | None, style: Style, *, signed: bool = False) -> str:
    """0.047 as 4.7 % or, signed, +4.7 %."""
    if fraction is None:
        return MISSING
    return f"{_tenths(fraction, signed=signed)}{style.percent}"


def over(value: float, base: float) -> float | None:
    """By which fraction `value` is above `base`; None over nothing."""
    return value / base - 1 if base else None


def percent_range(low: float | None, high: float | None, style: Style) -> str:
    """0.039 and 0.055 as `3.9 to 5.5 %`; an end that is not known is left out."""
    if low is None and high is None:
        return MISSING
    if high is None:
        return f"≥ {percent(low, style)}"
    if low is None:
        return f"≤ {percent(high, style)}"
    first = style.percent if style.percent_twice else ""
    return f"{_tenths(low)}{first}{style.to}{_tenths(high)}{style.percent}"


def rate(tokens_per_second: float | None) -> str:
    """Tokens a second with one digit after the point."""
    return MISSING if tokens_per_second is None else f"{tokens_per_second:,.1f}"


def whole(number: float | None) -> str:
    """A count."""
    return MISSING if number is None else f"{number:,.0f}"


def milliseconds(value: float | None) -> str:
    """A latency: three digits are enough below 100 ms."""
    if value is None:
        return MISSING
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"  # noqa: PLR2004 - three digits


def duration(seconds: float | None, style: Style) -> str:
    """6900 as `1 h 55 min`, 95 as `1 min 35 s`, 4.2 as `4.2 s`."""
    if seconds is None:
        return MISSING
    if seconds < SECONDS_PER_MINUTE:
        digits = 1 if seconds < 10 else 0  # noqa: PLR2004 - two digits
        return f"{seconds:.{digits}f}{style.seconds}"
    minutes, rest = divmod(round(seconds), SECONDS_PER_MINUTE)
    if minutes < MINUTES_PER_HOUR:
        return f"{minutes}{style.minutes}" + (f" {rest}{style.seconds}" if rest else "")
    hours, minutes = divmod(minutes, MINUTES_PER_HOUR)
    return f"{hours}{style.hours}" + (f" {minutes}{style.minutes}" if minutes else "")


def moment(wall: float | None) -> str:
    """Seconds since the epoch as date and time in UTC, the same on every host."""
    if wall is None:
        return MISSING
    try:
        return datetime.fromtimestamp(wall, tz=timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):  # a clock that was never set
        return MISSING


def _tenths(fraction: float, *, signed: bool = False) -> str:
    rounded = round(100 * fraction, 1) + 0.0  # no minus zero
    return f"{rounded:+.1f}" if signed else f"{rounded:.1f}"
