"""HttpPlane: one address and port with its routes; business, management and metrics each have one."""

import asyncio
import ssl
import uuid
from collections.abc import Callable, Mapping
from typing import Final

from autotune.emulator import responses
from autotune.emulator.http_connection import HttpConnection, Request
from autotune.emulator.links import Links
from autotune.emulator.logs import ServerLog
from autotune.emulator.served import Address

Handler = Callable[[Request, HttpConnection, str], None]
"""Answers a request; the last argument is the model's name where the path has one."""

_IDLE_SECONDS: Final = 5.0
"""How long the server waits for the first byte of a request."""
_READ_SECONDS: Final = 60.0
_BACKLOG: Final = 4096
_MODEL_PREFIXES: Final = ("/v2/models/", "/v1/models/")


class HttpPlane:
    """A listener: accepts connections, routes requests, closes idle connections."""

    def __init__(self, name: str, address: Address, links: Links, log: ServerLog, body_limit: int) -> None:
        self.name = name
        self.address = address
        self.links = links
        self.log = log
        self.body_limit = body_limit
        megabytes = body_limit // 1024**2
        message = f"Request body too large. Maximum allowed size is {megabytes}MB."
        self.too_large = responses.plain(413, responses.dump({"message": message}))
        self._routes: dict[tuple[str, str], Handler] = {}
        self._server: asyncio.AbstractServer | None = None
        self._prefix = uuid.uuid4().hex[:16]
        self._count = 0
        self._idle: dict[HttpConnection, float] = {}

    def add(self, routes: Mapping[tuple[str, str], Handler]) -> None:
        """Serve these routes; `{model}` in a path stands for the model's name."""
        self._routes.update(routes)

    async def listen(self, context: ssl.SSLContext | None) -> None:
        """Begin to accept. Raises OSError when the address cannot be had."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: HttpConnection(self),
            self.address.host,
            self.address.port,
            backlog=_BACKLOG,
            reuse_address=True,
            ssl=context,
        )
        loop.call_later(1.0, self._sweep)

    def next_identity(self) -> str:
        """A new RequestUUID."""
        self._count += 1
        return f"{self._prefix}{self._count:016x}"

    def opened(self, connection: HttpConnection) -> None:
        """Watch a connection that has not sent anything yet."""
        self._idle[connection] = asyncio.get_running_loop().time() + _IDLE_SECONDS

    def closed(self, connection: HttpConnection) -> None:
        """Watch it no more."""
        self._idle.pop(connection, None)

    def refused(self) -> None:
        """Log that a connection was dropped."""
        self.log.at_warn(
            "threadpool_monitor.cpp:52",
            f"[ThreadPoolMonitor] enqueue fail: wait num is {self.links.queued}, "
            f"max is {self.links.queue_limit}",
        )

    def handle(self, request: Request, connection: HttpConnection) -> None:
        """Find the route and call its handler."""
        self._idle.pop(connection, None)
        self.log.request(request.peer, request.method, request.path)
        handler, model = self._find(request)
        if handler is None:
            connection.reply(404)
            return
        handler(request, connection, model)

    def _find(self, request: Request) -> tuple[Handler | None, str]:
        handler = self._routes.get((request.method, request.path))
        if handler is not None:
            return handler, ""
        for prefix in _MODEL_PREFIXES:
            if request.path.startswith(prefix):
                model, slash, rest = request.path[len(prefix) :].partition("/")
                return self._routes.get((request.method, f"{prefix}{{model}}{slash}{rest}")), model
        return None, ""

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection, deadline in list(self._idle.items()):
            patience = _READ_SECONDS - _IDLE_SECONDS if connection.request_begun else 0.0
            if now > deadline + patience:
                connection.cut()
        loop.call_later(1.0, self._sweep)
