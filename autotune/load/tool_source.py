"""ToolSource: another program as the campaign's source of load."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from autotune.errors import LaunchFailed
from autotune.events import LevelProgress
from autotune.load.measuring.foreign_reading import fault_of, in_service_time, measurement_of
from autotune.load.measuring.reading import Fault
from autotune.load.measuring.repeats import Repeats
from autotune.load.measuring.tolerance import Tolerance
from autotune.load.own_source import OwnSource
from autotune.load.polling import Polling
from autotune.load.sources.reading import BenchmarkReading, NothingAnswered, UnreadableOutput
from autotune.load.sources.tool import Tool, ToolJob
from autotune.load.tool_run import ToolEnd, ToolPlace, run_tool
from autotune.load.warm_up import warm_up
from autotune.model.measurement import Invalid, InvalidReason, Level
from autotune.model.protocols import LevelRequest, Listener, Service
from autotune.statistics.window import QUICK_FROM

_REPEATS = 2
_REQUESTS_A_CLIENT = 4
"""Fewer would be little else than ramp and drain."""
_ALLOWANCE_SECONDS = 180.0
"""Of the host's clock: what a tool needs beside the load itself to start, read its tokenizer and sum up."""
_TELL_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolOptions:
    """How the tool is used."""

    environment: Mapping[str, str]
    """Of the service, proxies left out."""
    time_scale: float = 1.0
    rate: float | None = None
    """Open loop: requests a second of the service's clock."""
    requests: int | None = None
    """Of one run; None is four for each client."""
    tolerance: Tolerance = field(default_factory=Tolerance)


class ToolSource:
    """Runs the tool anew for each level: once for a sweep level, twice where the interval shall be narrow.

    Its speed is that of the whole run, ramp and drain included. The warm-up, which proves that the service
    answers, is the built-in client's.
    """

    def __init__(self, tool: Tool, own: OwnSource, place: ToolPlace, options: ToolOptions) -> None:
        self._tool = tool
        self._own = own
        self._place = place
        self._options = options
        self._repeats = Repeats()
        self._usual_tokens: float | None = None

    def close(self) -> None:
        """Nothing runs between levels."""

    def warm_up(self, service: Service) -> None:
        """A few requests of the built-in client. Raises LaunchFailed when they are not answered well."""
        warm_up(service, self._own.target(service), self._own.workload, time_scale=self._options.time_scale)

    def measure(self, service: Service, request: LevelRequest, listener: Listener) -> Level:
        """One level; the second run is left out when the time that is left does not carry it."""
        scale = self._options.time_scale
        left = request.cap_seconds / scale
        wanted = _REPEATS if request.half_width <= QUICK_FROM else 1
        readings: list[BenchmarkReading] = []
        spent = 0.0
        with Polling(service) as polling:
            while len(readings) < wanted and (not readings or spent / len(readings) <= left - spent):
                outcome, seconds = self._run(service, request, left - spent, polling, listener)
                spent += seconds
                if isinstance(outcome, Fault):
                    return Invalid(
                        concurrency=request.concurrency, reason=outcome.reason, detail=outcome.detail
                    )
                readings.append(outcome)
        self._repeats.add([one.output_tokens_per_second for one in readings])
        return measurement_of(
            readings,
            concurrency=request.concurrency,
            half_width=self._repeats.half_width(len(readings)),
            assumed=not self._repeats.known,
            seconds=spent * scale,
            preemptions=polling.preemptions(),
            running_mean=polling.running_mean(spent),
        )

    def _run(
        self,
        service: Service,
        request: LevelRequest,
        left: float,
        polling: Polling,
        listener: Listener,
    ) -> tuple[BenchmarkReading | Fault, float]:
        """One run and its seconds of the host's clock."""
        job = self._job(service, request)
        command = self._tool.command(job)
        told = 0.0

        def look(passed: float) -> str | None:
            nonlocal told
            if passed - told >= _TELL_SECONDS:
                told = passed
                listener(_progress(request, passed * self._options.time_scale))
            return polling.why_gone()

        try:
            ended = run_tool(
                command.argv,
                environment={**self._options.environment, **command.environment},
                directory=job.directory,
                place=self._place,
                seconds=left + _ALLOWANCE_SECONDS,
                look=look,
            )
        except LaunchFailed as error:
            return Fault(reason=InvalidReason.CLIENT_DIED, detail=error.message), 0.0
        if polling.gone is not None:
            return Fault(reason=InvalidReason.SERVICE_DIED, detail=polling.gone), ended.seconds
        return self._judged(job, ended, request), ended.seconds

    def _job(self, service: Service, request: LevelRequest) -> ToolJob:
        options, endpoint = self._options, service.endpoint
        rate = options.rate
        return ToolJob(
            url=endpoint.url,
            management_url=endpoint.management_url,
            model=endpoint.model_name,
            concurrency=request.concurrency,
            requests=options.requests or _REQUESTS_A_CLIENT * request.concurrency,
            rate=rate if rate is None or self._tool.in_service_time else rate * options.time_scale,
            directory=self._place.fresh(),
        )

    def _judged(self, job: ToolJob, ended: ToolEnd, request: LevelRequest) -> BenchmarkReading | Fault:
        said = f": {' / '.join(ended.last_lines)}" if ended.last_lines else ""
        if ended.why_ended:
            return Fault(reason=InvalidReason.STALLED, detail=f"{self._tool.name} {ended.why_ended}{said}")
        if ended.code != 0:
            detail = f"{self._tool.name} ended with {ended.code}{said}"
            return Fault(reason=InvalidReason.CLIENT_DIED, detail=detail)
        try:
            reading = self._tool.reading(job, ended.output)
        except NothingAnswered as error:
            return Fault(reason=InvalidReason.REQUESTS_FAILED, detail=error.message)
        except (UnreadableOutput, OSError, UnicodeDecodeError) as error:
            return Fault(reason=InvalidReason.UNREADABLE, detail=f"{error}{said}")
        if not self._tool.in_service_time:
            reading = in_service_time(reading, self._options.time_scale)
        clients = request.concurrency if self._options.rate is None else None
        if self._tool.sends_all and 0 < reading.requests < job.requests:
            lost = job.requests - reading.requests
            reading = replace(reading, failed=reading.failed + lost, requests=job.requests)
        fault = fault_of(reading, clients, self._options.tolerance, self._usual_tokens)
        if fault is None:
            self._usual_tokens = self._usual_tokens or reading.mean_output_tokens
        return fault or reading


def _progress(request: LevelRequest, seconds: float) -> LevelProgress:
    return LevelProgress(
        concurrency=request.concurrency,
        seconds=seconds,
        tokens_per_second=None,
        half_width=None,
        seconds_left=None,
    )
