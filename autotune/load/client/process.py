"""One process of a load test: opens, starts the clock, ticks, ends, and gives its tally."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from autotune.load.client.closed_loop import ClosedLoop
from autotune.load.client.crew import Crew
from autotune.load.client.door import Door
from autotune.load.client.open_loop import OpenLoop, arrival_gaps
from autotune.load.client.plan import LoadPlan
from autotune.load.client.reaching import unreached
from autotune.load.client.recorder import Bucket, Recorder
from autotune.load.client.supply import Supply
from autotune.load.client.tally import ClientHealth, Tally
from autotune.load.client.tls import context_of

TICK_SECONDS = 0.05
_SWEEP_TICKS = 20
_OPENED_FOR_RATE = 1
"""Open loop: one connection proves that the service is there; the others are opened as they are needed."""
Start = Callable[[], Awaitable[float]]
"""Waits until the clock shall start, and gives the time when it did."""
See = Callable[[Sequence[Bucket]], bool]
"""Takes the buckets that closed since the last call, perhaps none; true ends the test."""


async def run_process(plan: LoadPlan, see: See, start: Start | None = None) -> Tally:
    """Run the test. Raises Unreached when the service takes no connection at the start."""
    recorder = Recorder(bucket_seconds=plan.bucket_seconds, slice_seconds=plan.slice_seconds)
    target = plan.target
    tls = context_of(target.tls) if target.tls is not None and target.address.secure else None
    door = Door(address=target.address, api=target.api, recorder=recorder, tls=tls)
    supply = Supply(
        workload=plan.workload,
        api=target.api,
        address=target.address,
        model=target.model,
        headers=target.headers,
        streaming=target.streaming,
        first=plan.first_request,
        step=plan.request_step,
        staggered=plan.staggered,
        count=plan.requests,
    )
    crew = _crew(plan, supply, door, recorder)
    opened = plan.concurrency if plan.rate is None else _OPENED_FOR_RATE
    if plan.requests is not None:
        opened = min(opened, plan.requests)
    supply.prepare(2 * opened)
    try:
        await _opened(crew, opened, plan)
        began = await start() if start is not None else perf_counter()
        return await _measured(crew, recorder, see, began)
    finally:
        crew.close()


def _crew(plan: LoadPlan, supply: Supply, door: Door, recorder: Recorder) -> Crew:
    if plan.rate is None:
        return ClosedLoop(plan, supply, door, recorder)
    gaps = arrival_gaps(plan.rate, poisson=plan.poisson, seed=plan.seed)
    return OpenLoop(plan, supply, door, recorder, gaps)


async def _opened(crew: Crew, count: int, plan: LoadPlan) -> None:
    try:
        await asyncio.wait_for(crew.open_all(count), plan.patience.connect)
    except (OSError, asyncio.TimeoutError) as error:
        raise unreached(error, plan) from error


async def _measured(crew: Crew, recorder: Recorder, see: See, began: float) -> Tally:
    first_cpu = time.process_time()
    recorder.begin(began)
    ticker = Ticker(crew, recorder, see)
    ticker.start()
    crew.start()
    try:
        await crew.done.wait()
    finally:
        ticker.stop()
    ended = perf_counter()
    recorder.tick(ended)
    return Tally(
        started=recorder.started,
        ended=ended,
        buckets=recorder.buckets,
        columns=recorder.columns,
        gaps=recorder.gap_counts.slices,
        failed=recorder.failed,
        details=recorder.details,
        events=recorder.events,
        peak_in_flight=recorder.peak_in_flight,
        health=ClientHealth(
            cpu_seconds=time.process_time() - first_cpu,
            elapsed=ended - recorder.started,
            lag_p90=ticker.lag(0.9),
            lag_max=ticker.lag(1.0),
        ),
    )


class Ticker:
    """Does what must not be done in the hot path, 20 times a second, and measures how late it comes."""

    def __init__(self, crew: Crew, recorder: Recorder, see: See) -> None:
        self._crew = crew
        self._recorder = recorder
        self._see = see
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._ticks = 0
        self._told = 0
        self._lags: list[float] = []

    def start(self) -> None:
        """Make the first appointment."""
        self._due = perf_counter() + TICK_SECONDS
        self._handle = self._loop.call_later(TICK_SECONDS, self._tick)

    def stop(self) -> None:
        """No more appointments."""
        if self._handle is not None:
            self._handle.cancel()

    def lag(self, share: float) -> float:
        """How late the loop was at most in this share of the ticks, seconds."""
        if not self._lags:
            return 0.0
        ordered = sorted(self._lags)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def _tick(self) -> None:
        now = perf_counter()
        self._lags.append(max(0.0, now - self._due))
        self._ticks += 1
        self._recorder.tick(now)
        if self._ticks % _SWEEP_TICKS == 0:
            self._crew.sweep(now)
        new = self._recorder.buckets[self._told :]
        self._told += len(new)
        if self._see(new):
            self._crew.done.set()
            return
        self._due = now + TICK_SECONDS
        self._handle = self._loop.call_later(TICK_SECONDS, self._tick)
