"""LoadTest: one test from plan to reading, whoever wants it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from autotune.load.client import event_loop
from autotune.load.client.affinity import on_cpus
from autotune.load.client.capacity import ensure_capacity
from autotune.load.client.plan import LoadPlan, Patience, Target
from autotune.load.client.process import run_process
from autotune.load.client.reaching import Unreached
from autotune.load.client.recorder import Columns
from autotune.load.client.tally import ClientHealth, Tally
from autotune.load.ends import End, ForRequests, ForSeconds, UntilSure
from autotune.load.measuring.assembling import Frame, assembled
from autotune.load.measuring.reading import Fault, Reading
from autotune.load.measuring.span import Span, plateau
from autotune.load.measuring.validity import Tolerance, fault_of_stop, first_fault
from autotune.load.measuring.watch import LevelWatch, WatchRules
from autotune.load.workload.workload import Workload
from autotune.model.limit import Limit
from autotune.model.measurement import InvalidReason
from autotune.statistics.window import WindowStatus

_SHORTEST_BUCKET = 0.02
"""Of the host's clock: below it the client would only measure itself."""
MOST_AT_ONCE = 10_000
"""Open loop: requests beyond so many wait in the client, and their latency counts on."""

Progress = Callable[[float, WindowStatus | None], None]
"""Takes seconds of the service's clock since the start, and where the window stands."""
AskOutside = Callable[[], str | None]
"""Says why the service is gone, or None."""

_SILENT_SECONDS = 120.0
"""Of a closed loop: somebody is always served."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadTest:
    """What is sent where, how, and until when. Seconds are those of the service's clock."""

    target: Target
    workload: Workload
    concurrency: int | None
    """Closed loop: clients. None in open loop."""
    end: End
    time_scale: float = 1.0
    rate: float | None = None
    """Open loop: requests a second; None is closed loop."""
    poisson: bool = True
    ramp_seconds: float = 0.0
    first_request: int = 0
    tokens_an_event: float = 1.0
    limits: tuple[Limit, ...] = ()
    """Latency limits that goodput is counted by."""
    workers: int = 1
    cpus: tuple[int, ...] = ()
    """CPUs of the client; empty leaves them to the kernel."""
    patience: Patience = field(default_factory=Patience)
    tolerance: Tolerance = field(default_factory=Tolerance)
    seed: int = 1


def run_load_test(
    test: LoadTest, *, progress: Progress | None = None, ask_outside: AskOutside | None = None
) -> Reading:
    """Run it. A service that can't be reached or dies gives a reading with its fault, never an exception."""
    plan = _plan(test)
    watch = LevelWatch(
        rules=_rules(test, plan),
        window=test.end.window(plan.bucket_seconds * test.time_scale),
        progress=_scaled(progress, test.time_scale),
        ask_outside=ask_outside,
    )
    if test.rate is None:
        ensure_capacity(plan.concurrency, plan.target.address.port)
    try:
        tally = _run(test, plan, watch)
    except Unreached as error:
        return _unreached(test, plan, error.message)
    reading = assembled(tally, _span(test, plan, watch, tally), _frame(test, watch), None)
    fault = fault_of_stop(watch.stop, "; ".join((watch.detail, *reading.details)))
    fault = fault or first_fault(reading, test.tolerance, closed=test.rate is None)
    return replace(reading, fault=fault)


def _run(test: LoadTest, plan: LoadPlan, watch: LevelWatch) -> Tally:
    if test.workers > 1:
        from autotune.load.client.workers import run_workers

        with on_cpus(test.cpus):
            return run_workers(plan, watch.see, workers=test.workers, cpus=test.cpus)
    with on_cpus(test.cpus):
        return event_loop.run(run_process(plan, watch.see))


def _plan(test: LoadTest) -> LoadPlan:
    scale = test.time_scale
    bucket = max(test.end.bucket_seconds / scale, _SHORTEST_BUCKET)
    patience = test.patience
    return LoadPlan(
        target=test.target,
        workload=test.workload,
        concurrency=test.concurrency or MOST_AT_ONCE,
        rate=test.rate * scale if test.rate is not None else None,
        poisson=test.poisson,
        requests=test.end.count if isinstance(test.end, ForRequests) else None,
        ramp_seconds=test.ramp_seconds / scale,
        first_request=test.first_request,
        bucket_seconds=bucket,
        slice_seconds=max(5.0 / scale, 10 * bucket),
        patience=Patience(
            connect=patience.connect,
            first_token=max(patience.first_token / scale, 30.0),
            stall=max(patience.stall / scale, 5.0),
            total=max(patience.total / scale, 60.0),
        ) if scale != 1.0 else patience,
        seed=test.seed,
    )  # fmt: skip


def _rules(test: LoadTest, plan: LoadPlan) -> WatchRules:
    return WatchRules(
        concurrency=plan.concurrency,
        bucket_seconds=plan.bucket_seconds,
        duration=test.end.seconds / test.time_scale if isinstance(test.end, ForSeconds) else None,
        stop_when_sure=isinstance(test.end, UntilSure),
        sure_at=test.end.sure_at if isinstance(test.end, UntilSure) else None,
        streaming=test.target.streaming,
        tokens_an_event=test.tokens_an_event,
        stall_seconds=_silence(test, plan) if test.rate is None else float("inf"),
    )


def _silence(test: LoadTest, plan: LoadPlan) -> float:
    """How long the whole service may say nothing, in seconds of the host's clock."""
    return min(plan.patience.stall, max(_SILENT_SECONDS / test.time_scale, 5.0)) + plan.patience.first_token


def _span(test: LoadTest, plan: LoadPlan, watch: LevelWatch, tally: Tally) -> Span:
    """From the window where it has spoken, else the plateau between ramp and drain."""
    width = plan.bucket_seconds
    status = watch.status()
    if status is None or status.tokens_per_second is None:
        factor = watch.factor or test.tokens_an_event
        return plateau(tally.buckets, factor=factor, width=width, streaming=test.target.streaming)
    end = watch.fed
    length = round(status.seconds / (width * test.time_scale))
    return Span(
        begin=max(0, end - length),
        end=end,
        seconds=status.seconds / test.time_scale,
        rate=status.tokens_per_second * test.time_scale,
        half_width=test.end.stated(status),
        batch_means=tuple(mean * test.time_scale for mean in status.batch_means),
        capped=isinstance(test.end, UntilSure) and test.end.capped(status),
    )


def _frame(test: LoadTest, watch: LevelWatch) -> Frame:
    return Frame(
        concurrency=test.concurrency,
        time_scale=test.time_scale,
        streaming=test.target.streaming,
        whole_test_latencies=isinstance(test.end, ForRequests),
        from_schedule=test.rate is not None,
        tokens_an_event=test.tokens_an_event,
        fed_factor=watch.factor,
        limits=test.limits,
    )


def _scaled(progress: Progress | None, scale: float) -> Progress | None:
    if progress is None:
        return None
    return lambda seconds, status: progress(seconds * scale, status)


def _unreached(test: LoadTest, plan: LoadPlan, detail: str) -> Reading:
    nothing = Tally(
        started=0.0,
        ended=0.0,
        buckets=[],
        columns=Columns(),
        gaps=[],
        health=ClientHealth(cpu_seconds=0.0, elapsed=0.0, lag_p90=0.0, lag_max=0.0),
    )
    span = Span(begin=0, end=0, seconds=0.0, rate=None, half_width=None)
    frame = Frame(
        concurrency=test.concurrency,
        time_scale=test.time_scale,
        streaming=plan.target.streaming,
        whole_test_latencies=True,
        from_schedule=False,
    )
    return assembled(nothing, span, frame, Fault(reason=InvalidReason.SERVICE_DIED, detail=detail))
