"""Tolerance: how much of a test may go wrong before it is no measurement."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerance:
    """What a test may show and still be read, as shares of its requests."""

    failed: float = 0.01
    short: float = 0.01
