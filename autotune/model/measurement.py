"""Measurement or Invalid: what one level, one load test at one concurrency, gives."""

from dataclasses import dataclass
from enum import Enum, unique


@dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """Mean and percentiles of a latency in milliseconds; None where too few samples carry it."""

    mean: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p99: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureCount:
    """How many requests failed for one cause."""

    cause: str
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OverLimit:
    """How many single requests were beyond the bound of one latency limit."""

    limit: str
    """The limit as the user wrote it."""
    over: int
    requests: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """A valid level. Rates and times are those of the service's own clock (see Description.time_scale)."""

    concurrency: int
    tokens_per_second: float
    """Generated tokens a second in the steady window."""
    half_width: float
    """Half of the 95 % interval, as a fraction of tokens_per_second."""
    whole_run_tokens_per_second: float
    """All tokens over first request to last reply, as the vendor's tool reads it."""
    seconds: float
    """Length of the steady window."""
    requests: int
    completed: int
    failed: tuple[FailureCount, ...] = ()
    short_replies: int = 0
    ttft_ms: Distribution = Distribution()
    event_gap_ms: Distribution = Distribution()
    tpot_ms: Distribution = Distribution()
    e2e_ms: Distribution = Distribution()
    events: int = 0
    reads: int = 0
    output_tokens: int = 0
    input_tokens: int = 0
    mean_output_tokens: float | None = None
    """Mean generated tokens of a finished request."""
    concurrency_reached: int = 0
    client_cpu_seconds: float = 0.0
    client_cpu_share: float | None = None
    """Busy share of one core, of several client processes that of the busiest; None for other tools."""
    client_lag_p90_ms: float | None = None
    """How late the client came to its own appointments, in milliseconds of the host's clock."""
    client_send_delay_ms: float | None = None
    """Mean time from when a request was due to when its bytes were written, host's clock."""
    preemptions: int | None = None
    running_mean: float | None = None
    batch_means: tuple[float, ...] = ()
    """Tokens a second of each batch of the steady window, in order; what half_width came from."""
    capped: bool = False
    """True when the time cap ended the level before the wanted half-width was reached."""
    goodput: float | None = None
    """Share of all requests that were answered within the latency limits; None where there are none."""
    over_limits: tuple[OverLimit, ...] = ()
    """Of each latency limit; empty where the source counts no single requests."""
    assumed_noise: bool = False
    """True when half_width is an assumption, not a result."""


@unique
class InvalidReason(Enum):
    """Why a level gives no number."""

    CONCURRENCY_NOT_REACHED = "concurrency_not_reached"
    REQUESTS_FAILED = "requests_failed"
    SHORT_REPLIES = "short_replies"
    SERVICE_DIED = "service_died"
    TOO_SHORT = "too_short"
    FOREIGN_REQUESTS = "foreign_requests"
    CLIENT_OVERLOADED = "client_overloaded"
    TOKEN_DRIFT = "token_drift"  # noqa: S105 - tokens of a model, no secret
    LITTLES_LAW = "littles_law"
    STALLED = "stalled"
    CLIENT_DIED = "client_died"
    """A client process, or the benchmark in its place, ended before the test was over."""
    UNREADABLE = "unreadable"
    """A benchmark's output gives no number."""
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Invalid:
    """A level that must not be read as a number, and why."""

    concurrency: int
    reason: InvalidReason
    detail: str = ""


Level = Measurement | Invalid
