"""Proposal: what a sampler of several knobs is told and asked; the search stays pure, the sampler outside."""

from dataclasses import dataclass
from typing import Protocol

from autotune.model.settings import Value

Values = tuple[tuple[str, Value], ...]
"""Names of knobs with their values, in the order of the knobs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Knob:
    """One knob and the whole numbers that it may take; a flag is false or true."""

    name: str
    low: int = 0
    high: int = 1
    flag: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """One launch in the sampler's eyes."""

    values: Values
    tokens_per_second: float
    """0 for one that failed."""
    violation: float = 0.0
    """Above 0 for a failed start or a broken limit."""


class Proposals(Protocol):
    """Proposes values of several knobs. The same arguments give the same values."""

    def propose(self, knobs: tuple[Knob, ...], tried: tuple[Tried, ...], *, seed: int, number: int) -> Values:
        """The next values to try; `number` counts the questions of one search."""
