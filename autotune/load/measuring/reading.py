"""Reading: every number of one load test, and the reason when it must not be read as a measurement."""

from dataclasses import dataclass

from autotune.load.client.tally import ClientHealth
from autotune.model.measurement import (
    Distribution,
    FailureCount,
    Invalid,
    InvalidReason,
    Level,
    Measurement,
    OverLimit,
)
from autotune.units import MILLISECONDS_PER_SECOND


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Why a test gives no measurement."""

    reason: InvalidReason
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One test. Rates and times are those of the service's clock; None is unknown."""

    concurrency: int
    tokens_per_second: float | None
    half_width: float | None
    whole_run_tokens_per_second: float | None
    seconds: float
    """Length of the steady window."""
    test_seconds: float
    """Length of the whole test."""
    requests: int
    completed: int
    failed: tuple[FailureCount, ...]
    details: tuple[str, ...]
    """What the first failure of each cause said."""
    short_replies: int
    ttft_ms: Distribution
    event_gap_ms: Distribution
    tpot_ms: Distribution
    e2e_ms: Distribution
    events: int
    reads: int
    output_tokens: int
    input_tokens: int
    mean_output_tokens: float | None
    concurrency_reached: int
    running_mean: float | None
    batch_means: tuple[float, ...]
    capped: bool
    health: ClientHealth
    little_residual: float | None
    """By how much running requests differ from rate x residence time, as a fraction."""
    goodput: float | None = None
    over_limits: tuple[OverLimit, ...] = ()
    fault: Fault | None = None
    preemptions: int | None = None

    def level(self) -> Level:
        """As the campaign takes it."""
        if self.fault is not None:
            return Invalid(concurrency=self.concurrency, reason=self.fault.reason, detail=self.fault.detail)
        if self.tokens_per_second is None or self.half_width is None:
            detail = f"{self.seconds:.1f} s are too short for an interval"
            return Invalid(concurrency=self.concurrency, reason=InvalidReason.TOO_SHORT, detail=detail)
        return Measurement(
            concurrency=self.concurrency,
            tokens_per_second=self.tokens_per_second,
            half_width=self.half_width,
            whole_run_tokens_per_second=self.whole_run_tokens_per_second or 0.0,
            seconds=self.seconds,
            requests=self.requests,
            completed=self.completed,
            failed=self.failed,
            short_replies=self.short_replies,
            ttft_ms=self.ttft_ms,
            event_gap_ms=self.event_gap_ms,
            tpot_ms=self.tpot_ms,
            e2e_ms=self.e2e_ms,
            events=self.events,
            reads=self.reads,
            output_tokens=self.output_tokens,
            input_tokens=self.input_tokens,
            mean_output_tokens=self.mean_output_tokens,
            concurrency_reached=self.concurrency_reached,
            client_cpu_seconds=self.health.cpu_seconds,
            client_cpu_share=self.health.cpu_share,
            client_lag_p90_ms=MILLISECONDS_PER_SECOND * self.health.lag_p90,
            client_send_delay_ms=MILLISECONDS_PER_SECOND * self.health.send_delay_mean,
            preemptions=self.preemptions,
            running_mean=self.running_mean,
            batch_means=self.batch_means,
            goodput=self.goodput,
            over_limits=self.over_limits,
            capped=self.capped,
        )
