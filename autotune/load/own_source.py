"""OwnSource: the built-in client as the campaign's source of load."""

import time
from dataclasses import replace
from time import perf_counter

from autotune.errors import LaunchCause, LaunchFailed
from autotune.events import LevelProgress
from autotune.load.client.address import read_address
from autotune.load.client.families import api_of
from autotune.load.client.plan import Target
from autotune.load.client.tls import TlsFiles
from autotune.load.ends import ForRequests, UntilSure
from autotune.load.load_test import LoadTest, Progress, run_load_test
from autotune.load.measuring.reading import Fault, Reading
from autotune.load.measuring.validity import Tolerance
from autotune.load.polling import Polling
from autotune.load.workload.workload import Workload
from autotune.model.limit import Limit
from autotune.model.measurement import InvalidReason, Level
from autotune.model.protocols import LevelRequest, Listener, Service
from autotune.statistics.window import WindowStatus

_WARM_UP_REQUESTS = 8
_WARM_UP_CLIENTS = 4
_WARM_UP_TOKENS = 16
_WARM_UP_TRIES = 3
_WARM_UP_PAUSE_SECONDS = 1.0
_WARM_UP_PASS = 1_000_000
"""A pass of the data set that no test reaches, so that its salt is used by nothing else."""
_FEWEST_REPLIES = 100
_MOST_DRIFT = 0.25
"""Short levels lose some of the longest replies, so that a smaller difference means nothing."""
_FOREIGN_SHARE = 0.05
_FEWEST_FOREIGN = 2.0


class OwnSource:
    """Closed loop (or open loop, when a rate is given) against the running service."""

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
        self._workers = workers
        self._cpus = cpus
        self._seed = seed
        self._next_request = 0
        self._usual_tokens: float | None = None
        self.last_reading: Reading | None = None
        """Everything that the last level saw, beyond what a Measurement carries."""

    def warm_up(self, service: Service) -> None:
        """A few short requests; the first request of a launch is the same in every launch.

        Raises LaunchFailed when the service is gone, or answers none of them well.
        """
        self._next_request = 0
        test = LoadTest(
            target=self._target(service),
            workload=replace(
                self._workload,
                max_output_tokens=min(_WARM_UP_TOKENS, self._workload.max_output_tokens),
            ),
            concurrency=_WARM_UP_CLIENTS,
            end=ForRequests(count=_WARM_UP_REQUESTS),
            time_scale=self._time_scale,
            first_request=_WARM_UP_PASS * len(self._workload),
        )
        reading = run_load_test(test)
        for _ in range(_WARM_UP_TRIES - 1):
            if reading.completed == _WARM_UP_REQUESTS:
                return
            service.check()
            time.sleep(_WARM_UP_PAUSE_SECONDS)
            reading = run_load_test(test)
        if reading.completed == _WARM_UP_REQUESTS:
            return
        service.check()
        why = "; ".join(reading.details) or (reading.fault.detail if reading.fault else "short replies")
        raise LaunchFailed(LaunchCause.UNKNOWN, f"the service does not answer as it should: {why}")

    def measure(self, service: Service, request: LevelRequest, listener: Listener) -> Level:
        """One level. Ends with the connections closed, so that the next one need not wait for replies."""
        test = LoadTest(
            target=self._target(service),
            workload=self._workload,
            concurrency=request.concurrency if self._rate is None else None,
            end=UntilSure(
                half_width=request.half_width,
                cap_seconds=request.cap_seconds,
                stop_below=request.stop_below,
            ),
            time_scale=self._time_scale,
            rate=self._rate,
            first_request=self._next_request,
            tolerance=self._tolerance,
            limits=self._limits,
            workers=self._workers,
            cpus=self._cpus,
            seed=self._seed,
        )
        with Polling(service) as polling:
            reading = run_load_test(test, progress=_progress(request, listener), ask_outside=polling.why_gone)
        self._next_request += reading.requests + request.concurrency
        reading = replace(reading, concurrency=request.concurrency)
        self.last_reading = self._against_others(self._with_counters(reading, polling))
        return self.last_reading.level()

    def _against_others(self, reading: Reading) -> Reading:
        """Replies that are much longer or shorter than those of the first level are another workload."""
        tokens = reading.mean_output_tokens
        if reading.fault is not None or tokens is None or reading.completed < _FEWEST_REPLIES:
            return reading
        usual = self._usual_tokens = self._usual_tokens or tokens
        if abs(tokens - usual) <= _MOST_DRIFT * usual:
            return reading
        detail = f"replies have {tokens:.0f} tokens in the mean, those of the first level had {usual:.0f}"
        return replace(reading, fault=Fault(reason=InvalidReason.TOKEN_DRIFT, detail=detail))

    def _target(self, service: Service) -> Target:
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
