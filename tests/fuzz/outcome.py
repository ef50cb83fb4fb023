"""Outcome: what one fuzzer did with one target."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Counts, and the input that broke the law if one did."""

    inputs: int = 0
    seconds: float = 0.0
    edges: int | None = None
    """Edges of the code that were reached; None where nobody counts."""
    broken_by: bytes | None = None
    traceback: str = ""
    skipped: str = ""
    """Why it did not run; empty when it did."""
