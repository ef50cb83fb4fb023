"""BenchmarkReading: what another tool's output says of one load test."""

from dataclasses import dataclass
from typing import Final

from autotune.errors import NotMeasurable
from autotune.model.measurement import Distribution

UNKNOWN: Final = Distribution()
"""A latency that the tool does not report."""


UNTOLD: Final = -1
"""Completed requests of a tool that tells a share of success and no count."""


class UnreadableOutput(NotMeasurable):
    """An output that gives no number: not this tool's, cut off, or a run in which every request failed."""


class NothingAnswered(UnreadableOutput):
    """A run in which every request failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchmarkReading:
    """One load test as another tool reports it; None where the tool does not say."""

    tool: str
    output_tokens_per_second: float
    """Generated tokens over first request to last reply, all clients together."""
    completed: int
    failed: int
    requests: int
    """Sent in all, where the tool says so; else completed and failed."""
    total_tokens_per_second: float | None = None
    """Prompt tokens included."""
    requests_per_second: float | None = None
    seconds: float | None = None
    concurrency: int | None = None
    """As configured: most requests at once; None when the tool had no limit."""
    concurrency_reached: float | None = None
    """Mean number of requests at once, where the tool measures it."""
    output_tokens: int | None = None
    input_tokens: int | None = None
    mean_output_tokens: float | None = None
    mean_input_tokens: float | None = None
    ttft_ms: Distribution = UNKNOWN
    tpot_ms: Distribution = UNKNOWN
    event_gap_ms: Distribution = UNKNOWN
    e2e_ms: Distribution = UNKNOWN
    streamed: bool = True
    """False when first-token times are whole replies; they are left out then."""


def checked(reading: BenchmarkReading) -> BenchmarkReading:
    """The reading when it is one. Raises UnreadableOutput when no request was answered."""
    if reading.completed <= 0 and reading.completed != UNTOLD:
        raise NothingAnswered(
            f"{reading.tool}: none of {reading.requests} requests was answered",
            hint="look at the tool's own log; a proxy in the environment is a common cause",
        )
    if not 0 < reading.output_tokens_per_second < float("inf"):
        raise UnreadableOutput(f"{reading.tool}: no generated tokens were counted")
    return reading
