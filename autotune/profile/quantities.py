"""Quantities as people write them: 15m, 2%, 17GiB -> seconds, fractions, bytes."""

import math
import re

from autotune.foreign import real, whole
from autotune.units import GiB, KiB, MiB

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|d)")
_BYTES = {
    "b": 1,
    "kib": KiB,
    "mib": MiB,
    "gib": GiB,
    "tib": 1024 * GiB,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def seconds_of(value: object) -> float:
    """Seconds of `15m`, `90s`, `500ms`, `1h30m` or a bare number of seconds.

    Raises ValueError when it is none of these, or not above zero.
    """
    seconds = _seconds_of_text(value) if isinstance(value, str) else _number(value)
    if seconds is None:
        raise ValueError(f"{value!r} is not a duration; write it like 90s, 15m or 2h")
    if not 0 < seconds < math.inf:
        raise ValueError(f"{value!r} is not a duration above zero")
    return seconds


def fraction_of(value: object) -> float:
    """Fraction of `2%` or of a bare number from 0 to 1. Raises ValueError for anything else."""
    if isinstance(value, str) and value.strip().endswith("%"):
        number = value.strip()[:-1].strip()
        fraction = float(number) / 100 if _NUMBER.fullmatch(number) else None
    elif isinstance(value, str):
        fraction = float(value) if _NUMBER.fullmatch(value.strip()) else None
    else:
        fraction = _number(value)
    if fraction is None:
        raise ValueError(f"{value!r} is not a share; write it like 2% or 0.02")
    if not 0 <= fraction <= 1:
        raise ValueError(f"{value!r} is outside 0 % to 100 %; write percent with its sign, like 2%")
    return fraction


def bytes_of(value: object) -> int:
    """Whole bytes of `17GiB`, `512MiB`, `64GB` or a bare number. Raises ValueError for anything else."""
    if isinstance(value, str):
        match = _SIZE.fullmatch(value.strip().lower())
        number = real(match[1]) if match else None
        if match and number is not None and match[2] in _BYTES:
            return int(number * _BYTES[match[2]])
        if (size := whole(value)) is not None:
            return size
    elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"{value!r} is not a size; write it like 17GiB or 512MiB")


def _seconds_of_text(text: str) -> float | None:
    compact = text.strip().lower()
    if _NUMBER.fullmatch(compact):
        return float(compact)
    parts = _DURATION_PART.findall(compact)
    if not parts or _DURATION_PART.sub("", compact).strip():
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None
