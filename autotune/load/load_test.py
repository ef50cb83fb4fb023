"""LoadTest: one test from plan to reading, whoever wants it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autotune.load.client.affinity import on_cpus
from autotune.load.client.api import equally_long
from autotune.load.client.capacity import ensure_capacity
from autotune.load.client.plan import LoadPlan, Patience, Target
from autotune.load.client.reaching import Unreached
from autotune.load.ends import End, ForRequests, ForSeconds, UntilSure
from autotune.load.measuring.tolerance import Tolerance
from autotune.load.measuring.watch import LevelWatch, WatchRules
from autotune.load.workload.workload import Workload
from autotune.model.limit import Limit
from autotune.statistics.window import WindowStatus

if TYPE_CHECKING:
    from autotune.load.client.pool import WorkerPool
    from autotune.load.client.tally import Tally
    from autotune.load.measuring.reading import Reading

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
    at_once: int | None = None
    """Closed loop: requests that the service admits at once; None where nothing tells."""
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
    test: LoadTest,
    *,
    progress: Progress | None = None,
    ask_outside: AskOutside | None = None,
    pool: WorkerPool | None = None,
) -> Reading:
    """Run it in the pool's processes; without a pool in this one, or in `test.workers` of their own.

    A service that can't be reached or dies gives a reading with its fault, never an exception.
    Raises ClientDied when a client process ends before its time.
    """
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
        tally = _run(test, plan, watch, pool)
    except Unreached as error:
        from autotune.load.outcome import unreached

        return unreached(test, error.message)
    from autotune.load.outcome import reading_of  # the clock has stopped: now it may take its time

    return reading_of(test, plan, watch, tally)


def _run(test: LoadTest, plan: LoadPlan, watch: LevelWatch, pool: WorkerPool | None) -> Tally:
    if pool is not None:
        return pool.run(plan, watch.see, workers=test.workers, cpus=test.cpus)
    if test.workers > 1:
        from autotune.load.client.pool import WorkerPool

        with on_cpus(test.cpus), WorkerPool() as own:
            return own.run(plan, watch.see, workers=test.workers, cpus=test.cpus)
    from autotune.load.client import event_loop
    from autotune.load.client.process import run_process

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
        staggered=_staggered(test),
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


def _staggered(test: LoadTest) -> int:
    """Requests to cut: those that are admitted at the beginning, where all would be equally long.

    They would end together, and so would all that follow them, for as long as the test goes on: no steady
    speed, and no real traffic.
    """
    if test.concurrency is None or not isinstance(test.end, UntilSure):
        return 0
    if not equally_long(test.workload, test.target.api):
        return 0
    return min(test.concurrency, test.at_once or test.concurrency)


def _rules(test: LoadTest, plan: LoadPlan) -> WatchRules:
    return WatchRules(
        concurrency=plan.concurrency,
        bucket_seconds=plan.bucket_seconds,
        duration=test.end.seconds / test.time_scale if isinstance(test.end, ForSeconds) else None,
        stop_when_sure=isinstance(test.end, UntilSure),
        streaming=test.target.streaming,
        tokens_an_event=test.tokens_an_event,
        stall_seconds=_silence(test, plan) if test.rate is None else float("inf"),
    )


def _silence(test: LoadTest, plan: LoadPlan) -> float:
    """How long the whole service may say nothing, in seconds of the host's clock."""
    return min(plan.patience.stall, max(_SILENT_SECONDS / test.time_scale, 5.0)) + plan.patience.first_token


def _scaled(progress: Progress | None, scale: float) -> Progress | None:
    if progress is None:
        return None
    return lambda seconds, status: progress(seconds * scale, status)
