"""Health routes of the management port: /health, /v2/health/live and ready, /health/timed-N."""

import asyncio
import re
from collections.abc import Coroutine
from typing import Final

from autotune.emulator.http_connection import HttpConnection, Request
from autotune.emulator.plane import Handler
from autotune.emulator.responses import dump
from autotune.emulator.service import EmulatedService
from autotune.mindie_rules import interfaces
from autotune.simulator.sequence import Sequence, State

_POLL_SECONDS: Final = 0.1
_TIMED_DEFAULT: Final = 600
_TIMED_HIGH: Final = 600
_TIMED_DIGITS: Final = 1000
_TIMED = re.compile(r"-([0-9]+)")
_HEALTHY: Final = dump({"status": "healthy"})


def unwell(service: EmulatedService, connection: HttpConnection) -> bool:
    """Answer for a service that is stopped or not up yet; False when it is neither."""
    if service.stopped:
        connection.fail(503, interfaces.STOPPED_MESSAGE)
        return True
    if not service.healthy:
        connection.reply(503)
        return True
    return False


def known(service: EmulatedService, name: str, connection: HttpConnection) -> bool:
    """Whether this is the model's name; answers with 404 when it is not."""
    if name == service.model.name:
        return True
    connection.fail(404, f"Model {name} not found.")
    return False


class Tasks:
    """Keeps what runs beside the replies."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run this until it is done."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)


class HealthRoutes:
    """Answers how the service is."""

    def __init__(self, service: EmulatedService) -> None:
        self._service = service
        self._tasks = Tasks()

    def routes(self) -> dict[tuple[str, str], Handler]:
        """The routes; the seconds of /health/timed-N make a path each."""
        timed = {("GET", f"/health/timed-{seconds}"): self._timed for seconds in range(_TIMED_DIGITS)}
        return {
            ("GET", "/health"): self._health,
            ("GET", "/v2/health/live"): self._checked,
            ("GET", "/v2/health/ready"): self._checked,
            ("GET", "/v2/models/{model}/ready"): self._model_ready,
            ("GET", "/health/timed"): self._timed,
            **timed,
        }

    def _health(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        if not unwell(self._service, connection):
            connection.reply(200)

    def _checked(self, _request: Request, connection: HttpConnection, _model: str) -> None:
        """From 3.x on the health checker must have called the service normal."""
        if unwell(self._service, connection):
            return
        if self._service.checked:
            connection.reply(200)
        else:
            connection.reply(500, dump({"message": "Service is abnormal"}))

    def _model_ready(self, _request: Request, connection: HttpConnection, model: str) -> None:
        if not unwell(self._service, connection) and known(self._service, model, connection):
            connection.reply(200)

    def _timed(self, request: Request, connection: HttpConnection, _model: str) -> None:
        """Run a virtual request of one token; answer when it is done, or when the time is over."""
        if self._service.stopped:
            connection.reply(200, _HEALTHY)
            return
        if not self._service.healthy:
            connection.reply(503)
            return
        found = _TIMED.search(request.path)
        seconds = int(found[1]) if found else _TIMED_DEFAULT
        if 1 <= seconds <= _TIMED_HIGH:
            self._tasks.start(self._probe(connection, float(seconds)))
        else:
            connection.fail(404, f"Wait time should be in range of [1, {_TIMED_HIGH}], input is not valid")

    async def _probe(self, connection: HttpConnection, seconds: float) -> None:
        engine = self._service.engine
        sequence = Sequence(number=engine.next_number(), prompt_tokens=1, output_tokens=1)
        deadline = engine.enqueue(sequence) + seconds
        while engine.clock.now() < deadline:
            if sequence.state is State.FINISHED:
                connection.reply(200, _HEALTHY)
                return
            await asyncio.sleep(engine.clock.host_seconds(_POLL_SECONDS))
        connection.fail(500, "Engine callback timeout.")
