"""OwnSource: the built-in client as the campaign's source of load."""

import os
from dataclasses import replace
from time import perf_counter

from autotune.errors import Refused
from autotune.events import LevelProgress, Warned
from autotune.load.client.address import read_address
from autotune.load.client.api import equally_long
from autotune.load.client.families import api_of
from autotune.load.client.plan import Target
from autotune.load.client.pool import WorkerPool
from autotune.load.client.tls import TlsFiles
from autotune.load.client.worker_process import ClientDied
from autotune.load.company import is_busy, processes_wanted
from autotune.load.ends import UntilSure
from autotune.load.load_test import LoadTest, Progress, run_load_test
from autotune.load.measuring.reading import Fault, Reading
from autotune.load.measuring.tolerance import Tolerance
from autotune.load.polling import Polling, poll_seconds
from autotune.load.warm_up import warm_up
from autotune.load.workload.workload import Workload
from autotune.model.limit import Limit
from autotune.model.measurement import Invalid, InvalidReason, Level
from autotune.model.protocols import LevelRequest, Listener, Service
from autotune.statistics.window import WindowStatus

_FEWEST_REPLIES = 100
_MOST_DRIFT = 0.25
"""Short levels lose some of the longest replies, so that a smaller difference means nothing."""
_FOREIGN_SHARE = 0.05
_FEWEST_FOREIGN = 2.0
_MOST_REPEATS = 2
"""Of a level whose client was too slow, each with more client processes."""


class OwnSource:
    """Closed loop (or open loop, when a rate is given) against the running service.

    The streams run in processes of their own on `cpus`, more of them when one core is not enough; nothing
    else of a campaign runs in these.
    """

    def __init__(
        self,
        workload: Workload,
        api: str,
        *,
        time_scale: float = 1.0,
        rate: float | None = None,
        headers: tuple[tuple[str, str], ...] = (),
        tls: TlsFiles | None = None,
        streaming: bool = True,
        tolerance: Tolerance | None = None,
        limits: tuple[Limit, ...] = (),
        workers: int = 1,
        cpus: tuple[int, ...] = (),
        seed: int = 1,
    ) -> None:
        self._workload = workload
        self._api = api_of(api)
        self._time_scale = time_scale
        self._rate = rate
        self._headers = headers
        self._tls = tls
        self._streaming = streaming and api != "triton-tokens"
        self._tolerance = tolerance or Tolerance()
        self._limits = limits
        self._pool = WorkerPool()
        self._workers = workers
        self._cpus = cpus
        self._seed = seed
        self._next_request = 0
        self._usual_tokens: float | None = None
        self.last_reading: Reading | None = None
        """Everything that the last level saw, beyond what a Measurement carries."""

    @property
    def workload(self) -> Workload:
        """What is sent."""
        return self._workload

    def close(self) -> None:
        """End the client processes; they are started again when they are needed."""
        self._pool.close()

    def warm_up(self, service: Service) -> None:
        """A few short requests; the first request of a launch is the same in every launch.

        Raises LaunchFailed when the service is gone, or answers none of them well.
        """
        self._pool.prepare(self._workers)
        self._next_request = 0
        warm_up(service, self.target(service), self._workload, time_scale=self._time_scale)

    def measure(self, service: Service, request: LevelRequest, listener: Listener) -> Level:
        """One level. Ends with the connections closed, so that the next one need not wait for replies."""
        try:
            self.last_reading = self._read_with_company(service, request, listener)
        except ClientDied as error:
            return _invalid(request, InvalidReason.CLIENT_DIED, error.message)
        except Refused as error:
            detail = f"{error.message} ({error.hint})"
            return _invalid(request, InvalidReason.CONCURRENCY_NOT_REACHED, detail)
        return self.last_reading.level()

    def _read_with_company(self, service: Service, request: LevelRequest, listener: Listener) -> Reading:
        reading = self._read(service, request, listener)
        left, repeats = request.cap_seconds - reading.test_seconds, 0
        while self._get_company(reading, listener) and _client_was_slow(reading):
            repeats += 1
            if repeats > _MOST_REPEATS or left < reading.test_seconds:
                break
            reading = self._read(service, replace(request, cap_seconds=left), listener)
            left -= reading.test_seconds
        return reading

    def _read(self, service: Service, request: LevelRequest, listener: Listener) -> Reading:
        test = LoadTest(
            target=self.target(service),
            workload=self._workload,
            concurrency=request.concurrency if self._rate is None else None,
            end=UntilSure(
                half_width=request.half_width,
                cap_seconds=request.cap_seconds,
                stop_below=request.stop_below,
                alone=not request.sweep,
            ),
            time_scale=self._time_scale,
            rate=self._rate,
            first_request=self._next_request,
            at_once=request.at_once,
            tolerance=self._tolerance,
            limits=self._limits,
            workers=self._workers,
            cpus=self._cpus,
            seed=self._seed,
        )
        with Polling(service, period=poll_seconds(self._time_scale)) as polling:
            reading = run_load_test(
                test,
                progress=_progress(request, listener),
                ask_outside=polling.why_gone,
                pool=self._pool,
            )
        self._next_request += reading.requests + request.concurrency
        reading = replace(reading, concurrency=request.concurrency)
        return self._against_others(self._with_counters(reading, polling))

    def _get_company(self, reading: Reading, listener: Listener) -> bool:
        """Use more processes from now on when one core was hardly enough, and say so."""
        share = reading.health.cpu_share
        if not is_busy(share):
            return False
        wanted = processes_wanted(self._workers, share, min(self._most_workers(), reading.concurrency))
        used = f"the load client used {share:.0%} of a core at {reading.concurrency} clients"
        if wanted <= self._workers:
            listener(Warned(message=f"{used}, and there is no other CPU for it"))
            return False
        self._workers = wanted
        listener(Warned(message=f"{used}: {wanted} client processes from now on"))
        return True

    def _most_workers(self) -> int:
        """One a CPU that the service does not have; where it is not bound, one CPU is left to it."""
        return len(self._cpus) or max(1, len(os.sched_getaffinity(0)) - 1)

    def _against_others(self, reading: Reading) -> Reading:
        """Replies that are much longer or shorter than those of the first level are another workload.

        Where all have one length, one that is shorter was found by itself.
        """
        tokens = reading.mean_output_tokens
        if reading.fault is not None or tokens is None or reading.completed < _FEWEST_REPLIES:
            return reading
        if equally_long(self._workload, self._api):
            return reading
        usual = self._usual_tokens = self._usual_tokens or tokens
        if abs(tokens - usual) <= _MOST_DRIFT * usual:
            return reading
        detail = f"replies have {tokens:.0f} tokens in the mean, those of the first level had {usual:.0f}"
        return replace(reading, fault=Fault(reason=InvalidReason.TOKEN_DRIFT, detail=detail))

    def target(self, service: Service) -> Target:
        """How this service is spoken to."""
        endpoint = service.endpoint
        return Target(
            address=read_address(endpoint.url),
            api=self._api,
            model=endpoint.model_name,
            headers=self._headers,
            tls=(self._tls or TlsFiles()) if endpoint.url.startswith("https:") else None,
            streaming=self._streaming,
        )

    def _with_counters(self, reading: Reading, polling: Polling) -> Reading:
        running = polling.running_mean(reading.seconds / self._time_scale)
        foreign = polling.foreign(reading.concurrency)
        fault = reading.fault
        if fault is None and polling.gone is not None:
            fault = Fault(reason=InvalidReason.SERVICE_DIED, detail=polling.gone)
        if fault is None and foreign is not None and self._rate is None:
            limit = max(_FEWEST_FOREIGN, _FOREIGN_SHARE * reading.concurrency)
            if foreign > limit:
                detail = f"{foreign:.0f} requests in the service are not ours"
                fault = Fault(reason=InvalidReason.FOREIGN_REQUESTS, detail=detail)
        return replace(
            reading,
            fault=fault,
            preemptions=polling.preemptions(),
            running_mean=reading.running_mean if running is None else running,
        )


def _invalid(request: LevelRequest, reason: InvalidReason, detail: str) -> Invalid:
    return Invalid(concurrency=request.concurrency, reason=reason, detail=detail)


def _client_was_slow(reading: Reading) -> bool:
    return reading.fault is not None and reading.fault.reason is InvalidReason.CLIENT_OVERLOADED


def _progress(request: LevelRequest, listener: Listener) -> Progress:
    """Tells the listener about once a second of the host's clock."""
    last_told = perf_counter()

    def tell(seconds: float, status: WindowStatus | None) -> None:
        nonlocal last_told
        now = perf_counter()
        if now - last_told < 1.0:
            return
        last_told = now
        listener(
            LevelProgress(
                concurrency=request.concurrency,
                seconds=seconds,
                tokens_per_second=status.tokens_per_second if status is not None else None,
                half_width=status.half_width if status is not None else None,
                seconds_left=status.seconds_left if status is not None else None,
            )
        )

    return tell
