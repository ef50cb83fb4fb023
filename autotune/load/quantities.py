"""Quantities on the command line of a load test: 60s, 10m, 1%."""

import re

from autotune.errors import UsageError

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|s|m|h|)")
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)")


def seconds_of(text: str, option: str) -> float:
    """Seconds of `60s`, `10m` or `60`. Raises UsageError that names the option."""
    match = _DURATION.fullmatch(text.strip().lower())
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if seconds <= 0.0:
        raise UsageError(f"{option} {text!r} is no time above zero", hint=f"{option} 60s")
    return seconds


def fraction_of(text: str, option: str) -> float:
    """Fraction of `1%` or `0.01`. Raises UsageError that names the option."""
    match = _SHARE.fullmatch(text.strip())
    fraction = float(match[1]) / (100.0 if match[2] else 1.0) if match else 0.0
    if not 0.0 < fraction < 1.0:
        raise UsageError(f"{option} {text!r} is no share between 0 and 100 %", hint=f"{option} 1%")
    return fraction
