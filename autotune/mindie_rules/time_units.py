"""Times in cells of other tools: a number with its unit, `41161.2934 ms`; without one it is taken as ms."""

import re

from autotune.mindie_rules.tables import number_in
from autotune.units import MILLISECONDS_PER_SECOND

_UNIT = re.compile(r"[\d.]\s*(ns|us|μs|µs|ms|s|min)\b")
_MILLISECONDS = {
    "ns": 1e-6,
    "us": 1e-3,
    "μs": 1e-3,
    "µs": 1e-3,
    "ms": 1.0,
    "s": MILLISECONDS_PER_SECOND,
    "min": 60 * MILLISECONDS_PER_SECOND,
}


def milliseconds_in(cell: str | None) -> float | None:
    """The time of a cell; None where it holds none."""
    number = number_in(cell)
    if number is None:
        return None
    unit = _UNIT.search(cell or "")
    return number * _MILLISECONDS[unit[1] if unit else "ms"]


def seconds_in(cell: str | None) -> float | None:
    """The same in seconds."""
    milliseconds = milliseconds_in(cell)
    return None if milliseconds is None else milliseconds / MILLISECONDS_PER_SECOND
