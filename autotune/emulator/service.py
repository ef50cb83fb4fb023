"""EmulatedService: the engine, what it was configured to be, its health, and the faults that strike it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from autotune.emulator.ask import ReplyLengths
from autotune.emulator.engine_loop import EngineLoop
from autotune.emulator.faults import Faults
from autotune.emulator.logs import ServerLog
from autotune.emulator.marker import FaultWatch
from autotune.emulator.protocols.reply import Inquiry, Model
from autotune.emulator.served import Served
from autotune.emulator.streams import Sink, Stream, plan_reply, seeded
from autotune.errors import UsageError
from autotune.mindie_rules import log_printing

_HEALTH_CHECK_SECONDS: Final = 5.0
"""Interval of the health checker of 3.x, which needs one to call a service normal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """What an emulated service is called and which generation of MindIE it stands in for."""

    version: str
    major: int
    minor: int

    @property
    def checks_health(self) -> bool:
        """3.x: /v2/health/ready is 500 until the health checker has run."""
        return self.major >= 3  # noqa: PLR2004 - the version it came with


class EmulatedService:
    """Takes inquiries, and knows how the service is."""

    def __init__(
        self,
        engine: EngineLoop,
        served: Served,
        model: Model,
        identity: Identity,
        *,
        lengths: ReplyLengths,
        watch: FaultWatch,
        log: ServerLog,
    ) -> None:
        self.engine = engine
        self.served = served
        self.model = model
        self.identity = identity
        self.log = log
        self.started_wall = 0.0
        self.healthy = False
        self.stopped = False
        self.crash: Callable[[], None] = lambda: None
        """Called when a fault takes a rank down."""
        self._lengths = lengths
        self._watch = watch
        self._random = seeded("faults", model.seed)
        self._taken = 0
        self._became_healthy = 0.0
        self._stalled_until: float | None = None
        self._stalled = False

    @property
    def faults(self) -> Faults:
        """The faults of this moment."""
        return self._watch.now

    def become_healthy(self, wall: float) -> None:
        """All is up."""
        self.healthy = True
        self.started_wall = wall
        self._became_healthy = self.engine.clock.now()

    @property
    def checked(self) -> bool:
        """Whether the health checker has called the service normal."""
        if not self.identity.checks_health:
            return True
        return self.engine.clock.now() - self._became_healthy >= _HEALTH_CHECK_SECONDS

    def take(self, inquiry: Inquiry, sink: Sink) -> Stream:
        """Submit a request. Raises UsageError when the engine cannot take it."""
        plan = plan_reply(
            inquiry.ask, self.engine.scheduler.rules, self._lengths, self.faults, self._random.random
        )
        stream = Stream(inquiry, plan, sink, self.engine.next_number())
        self.engine.submit(stream)
        return stream

    def strikes(self) -> bool:
        """Count a request, let faults that wait for a count strike; True when this one gets an error."""
        self._taken += 1
        faults = self.faults
        if faults.crash_after_requests is not None and self._taken >= faults.crash_after_requests:
            self.crash()
        limit = faults.out_of_memory_after_requests
        if limit is not None and self._taken >= limit:
            self._run_out_of_memory()
        if faults.stall_after_requests is not None and self._taken >= faults.stall_after_requests:
            self._stall(faults)
        return faults.error_rate > 0 and self._random.random() < faults.error_rate

    def _run_out_of_memory(self) -> None:
        for line in log_printing.out_of_memory(self.log.stamp(), gib=2.57):
            self.log.line("llm", "ERROR", line)
        self.log.flush()
        self.crash()

    def _stall(self, faults: Faults) -> None:
        if self._stalled:
            return
        self._stalled = True
        self.engine.halt()
        if faults.stall_seconds is not None:
            self._stalled_until = self.engine.clock.now() + faults.stall_seconds

    def tick(self) -> None:
        """What is done now and then: faults are read again, stalls end, requests run out of time."""
        self._watch.refresh()
        now = self.engine.clock.now()
        over = self._stalled_until is not None and now >= self._stalled_until
        if self._stalled and (over or self.faults.stall_after_requests is None):
            self._stalled_until = None
            if self.faults.stall_after_requests is None:
                self._stalled = False
            self.engine.resume()
        self._end_overdue(now)

    def _end_overdue(self, now: float) -> None:
        served = self.served
        for stream in self.engine.streams:
            quiet = now - (stream.last_at or stream.arrived)
            why = ""
            if stream.ask.timeout is not None and quiet > stream.ask.timeout:
                why = "client timeout"
            elif quiet > served.token_timeout:
                why = "server tokenTimeout"
            elif now - stream.arrived > served.e2e_timeout:
                why = "server e2eTimeout"
            if why:
                self.engine.cancel(stream)
                self.engine.tally.failed += 1
                stream.sink.fail(500, f"Engine callback timeout: {why}")

    def stop_request(self, identity: str) -> bool:
        """End a request that its client names; False when there is none."""
        for stream in self.engine.streams:
            if stream.ask.identity == identity:
                self.engine.cancel(stream)
                stream.sink.cut()
                return True
        return False


def enqueue_error(error: UsageError) -> str:
    """The message of a request that the engine does not take."""
    return f"Failed to enqueue inferRequest. {error.message}"
