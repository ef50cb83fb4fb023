"""GET /stopService of the management port: wait for the running requests, or end all by force."""

import asyncio
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs

from autotune.emulator.health_routes import Tasks
from autotune.emulator.http_connection import HttpConnection, Request
from autotune.emulator.plane import Handler
from autotune.emulator.service import EmulatedService

_FORCE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.1
_STAYS: Final = 3
"""The major version from which the process stays after it has drained."""


class StoppingRoutes:
    """Stops the service; `kill` ends the process group at once, `end` as SIGTERM does."""

    def __init__(
        self, service: EmulatedService, *, kill: Callable[[], None], end: Callable[[], None]
    ) -> None:
        self._service = service
        self._kill = kill
        self._end = end
        self._tasks = Tasks()

    def routes(self) -> dict[tuple[str, str], Handler]:
        """The one route."""
        return {("GET", "/stopService"): self._stop}

    def _stop(self, request: Request, connection: HttpConnection, _model: str) -> None:
        """From now on inference is refused; a second call is an error."""
        if self._service.stopped:
            connection.reply(500)
            return
        self._service.stopped = True
        if parse_qs(request.query).get("mode") == ["Force"]:
            self._tasks.start(self._force())
            connection.reply(200)
        else:
            self._tasks.start(self._drain(connection))

    async def _force(self) -> None:
        await asyncio.sleep(self._service.engine.clock.host_seconds(_FORCE_SECONDS))
        self._kill()

    async def _drain(self, connection: HttpConnection) -> None:
        engine = self._service.engine
        while True:
            if not (engine.running or engine.waiting or engine.scheduler.swapped):
                break
            await asyncio.sleep(engine.clock.host_seconds(_POLL_SECONDS))
        connection.reply(200)
        if self._service.identity.major < _STAYS:
            self._end()
