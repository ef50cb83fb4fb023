"""Running: one started vLLM server, as the load and the campaign see it."""

from dataclasses import dataclass
from typing import final

from autotune.engines.vllm.control import Control, has_text
from autotune.engines.vllm.engine_processes import EngineProcesses
from autotune.engines.vllm.facts import ServerFacts
from autotune.engines.vllm.log_watch import LogWatch, how_it_ended
from autotune.engines.vllm.metrics import Reading, read_metrics
from autotune.engines.vllm.trial import Trial
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.protocols import Clock
from autotune.model.service import Blocks, Counters, Endpoint
from autotune.process.child import Child

LOOK_SECONDS = 2.0
"""How often its processes are looked at while it is under load."""
STALL_SECONDS = 30.0
"""Requests in flight and not one token for so long: then a real request decides."""
DEADLINE_SECONDS = 30.0
"""For that request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What a running server is made of."""

    child: Child
    watch: LogWatch
    control: Control
    trial: Trial
    processes: EngineProcesses
    clock: Clock
    model_name: str


@final
class RunningVllm:
    """A server that has answered; see `Service`."""

    def __init__(self, parts: Parts, blocks: Blocks | None) -> None:
        self._parts = parts
        self._blocks = blocks
        self._began = self._looked = self._progressed = parts.clock.now()
        self._generated: int | None = None
        self._endpoint = Endpoint(
            url=parts.trial.facts.url,
            model_name=parts.model_name,
            management_url=parts.trial.facts.url,
        )

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens."""
        return self._endpoint

    @property
    def facts(self) -> ServerFacts:
        """What it was started with."""
        return self._parts.trial.facts

    @property
    def blocks(self) -> Blocks | None:
        """KV blocks of this start, in the block size of the description."""
        return self._blocks

    @property
    def pid(self) -> int:
        """Pid of what was started."""
        return self._parts.child.pid

    def counters(self) -> Counters | None:
        """Ask it for its counters; None when it does not tell (--disable-log-stats) or does not answer."""
        reply = self._parts.control.get("/metrics")
        if reply is None or not reply.ok:
            return None
        reading = read_metrics(reply.body)
        self._note_progress(reading)
        if reading.running is None and reading.waiting is None:
            return None
        return reading.counters(self._blocks.count if self._blocks else None)

    def check(self) -> None:
        """Raise LaunchFailed when the server has ended, lost its engine, or generates nothing any more."""
        code = self._parts.child.poll()
        now = self._parts.clock.now()
        if code is not None:
            raise self._died(how_it_ended(code, now - self._began))
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            self._parts.watch.cap()
            self._check_processes()
        if now - self._progressed >= STALL_SECONDS:
            self._check_answer()
            self._progressed = self._parts.clock.now()

    def answers(self, seconds: float) -> bool:
        """Whether it answers a real request for one token in time."""
        facts = self._parts.trial.facts
        return has_text(
            self._parts.control.one_token(facts.interface, self._parts.model_name, seconds=seconds)
        )

    def _check_processes(self) -> None:
        missing = self._parts.processes.missing()
        if missing:
            raise self._died(f"its engine is gone: {', '.join(missing)}")

    def _check_answer(self) -> None:
        if not self.answers(DEADLINE_SECONDS):
            raise self._died(
                f"no token for {STALL_SECONDS:.0f} s and no answer to a request for one within "
                f"{DEADLINE_SECONDS:.0f} s"
            )

    def _note_progress(self, reading: Reading) -> None:
        """An idle server makes progress too."""
        idle = not reading.running and not reading.waiting
        if idle or reading.generated is None or reading.generated != self._generated:
            self._progressed = self._parts.clock.now()
        self._generated = reading.generated

    def _died(self, how: str) -> LaunchFailed:
        return self._parts.watch.failure(how, started=True, otherwise=LaunchCause.CRASHED)
