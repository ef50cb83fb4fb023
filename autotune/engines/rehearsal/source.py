"""RehearsalSource: load tests in virtual time, read through the same steady window as real ones."""

from autotune.engines.rehearsal.engine import RehearsalService
from autotune.engines.rehearsal.latencies import latencies_of
from autotune.errors import LaunchCause, LaunchFailed
from autotune.events import LevelProgress
from autotune.model.limit import Limit
from autotune.model.measurement import Invalid, InvalidReason, Level, Measurement
from autotune.model.protocols import Clock, LevelRequest, Listener, Service
from autotune.simulator.closed_loop import ClosedLoop
from autotune.statistics.window import SteadyWindow, WindowStatus

_BUCKET_SECONDS = 0.5
_PROGRESS_BUCKETS = 20


class RehearsalSource:
    """Feeds a steady window from a simulated closed loop."""

    def __init__(self, clock: Clock, *, warm_up_seconds: float = 5.0, limits: tuple[Limit, ...] = ()) -> None:
        self._clock = clock
        self._warm_up_seconds = warm_up_seconds
        self._limits = limits

    def warm_up(self, service: Service) -> None:
        """Let the warm-up time pass. Raises LaunchFailed when the service is stopped."""
        service.check()
        self._clock.sleep(self._warm_up_seconds)

    def measure(self, service: Service, request: LevelRequest, listener: Listener) -> Level:
        """Run one level until its window says that it is done."""
        rehearsed = _rehearsed(service)
        try:
            rehearsed.check()
        except LaunchFailed as error:
            return Invalid(
                concurrency=request.concurrency, reason=InvalidReason.SERVICE_DIED, detail=error.message
            )
        loop = rehearsed.load(request.concurrency)
        status = _measure(loop, request, listener)
        self._clock.sleep(loop.now)
        if status.tokens_per_second is None or status.half_width is None:
            detail = f"{status.seconds:.0f} s are too short for a reading"
            return Invalid(concurrency=request.concurrency, reason=InvalidReason.TOO_SHORT, detail=detail)
        return _measurement(loop, request.concurrency, status, self._limits)


def _rehearsed(service: Service) -> RehearsalService:
    if not isinstance(service, RehearsalService):
        raise LaunchFailed(LaunchCause.UNKNOWN, "a rehearsed load needs a rehearsed service")
    return service


def _measure(loop: ClosedLoop, request: LevelRequest, listener: Listener) -> WindowStatus:
    window = SteadyWindow(
        half_width=request.half_width,
        cap_seconds=request.cap_seconds,
        stop_below=request.stop_below,
        bucket_seconds=_BUCKET_SECONDS,
        alone=not request.sweep,
    )
    fed = 0
    while not window.status().done and loop.advance():
        while fed < loop.full_buckets and not window.status().done:
            bucket = loop.bucket(fed)
            window.add(bucket.tokens, bucket.running, bucket.completions)
            fed += 1
            if fed % _PROGRESS_BUCKETS == 0:
                listener(_progress(request.concurrency, fed * _BUCKET_SECONDS, window.status()))
    return window.status()


def _progress(concurrency: int, seconds: float, status: WindowStatus) -> LevelProgress:
    return LevelProgress(
        concurrency=concurrency,
        seconds=seconds,
        tokens_per_second=status.tokens_per_second,
        half_width=status.half_width,
        seconds_left=status.seconds_left,
    )


def _measurement(
    loop: ClosedLoop, concurrency: int, status: WindowStatus, limits: tuple[Limit, ...]
) -> Measurement:
    assert status.tokens_per_second is not None
    assert status.half_width is not None
    outcome = loop.outcome()
    done = loop.finished
    waits = latencies_of(loop, status.dropped_seconds, limits)
    return Measurement(
        concurrency=concurrency,
        tokens_per_second=status.tokens_per_second,
        half_width=status.half_width,
        whole_run_tokens_per_second=outcome.tokens_per_second,
        seconds=status.seconds,
        requests=outcome.submitted,
        completed=outcome.completed,
        ttft_ms=waits.ttft_ms,
        event_gap_ms=outcome.event_gap_ms,
        tpot_ms=waits.tpot_ms,
        e2e_ms=waits.e2e_ms,
        events=outcome.tokens,
        reads=outcome.tokens,
        output_tokens=outcome.tokens,
        input_tokens=sum(sequence.prompt_tokens for sequence in done),
        mean_output_tokens=sum(sequence.output_tokens for sequence in done) / len(done) if done else None,
        concurrency_reached=concurrency,
        preemptions=outcome.preemptions,
        running_mean=_running_mean(loop, status.dropped_seconds),
        batch_means=status.batch_means,
        capped=status.capped,
        goodput=waits.goodput,
        over_limits=waits.over_limits,
    )


def _running_mean(loop: ClosedLoop, steady_from: float) -> float:
    """Mean running requests of the steady part."""
    first = min(int(steady_from / _BUCKET_SECONDS), loop.full_buckets - 1)
    running = [loop.bucket(index).running for index in range(first, loop.full_buckets)]
    return sum(running) / len(running)
