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
_SECONDS = {unit: factor / MILLISECONDS_PER_SECOND for unit, factor in _MILLISECONDS.items()}


def milliseconds_in(cell: str | None) -> float | None:
    """The time of a cell; None where it holds none."""
    return _time_in(cell, per_unit=_MILLISECONDS)


def seconds_in(cell: str | None) -> float | None:
    """The same in seconds; what is told in seconds stays what it is to the last digit."""
    return _time_in(cell, per_unit=_SECONDS)


def _time_in(cell: str | None, *, per_unit: dict[str, float]) -> float | None:
    number = number_in(cell)
    if number is None:
        return None
    unit = _UNIT.search(cell or "")
    return number * per_unit[unit[1] if unit else "ms"]
