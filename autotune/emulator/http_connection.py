"""HttpConnection: one connection of a plane: parses a request, hands it on, and writes the reply."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast
from urllib.parse import unquote

import httptools

from autotune.emulator import responses
from autotune.emulator.links import Links
from autotune.emulator.streams import Stream


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A whole HTTP request."""

    method: str
    path: str
    query: str
    body: bytes
    identity: str
    """The RequestUUID header of its reply."""
    peer: str


class Plane(Protocol):
    """What a connection needs of the plane that accepted it."""

    links: Links
    body_limit: int
    """Most bytes of a body."""
    too_large: bytes
    """The reply to a longer one."""

    def next_identity(self) -> str:
        """A new RequestUUID."""

    def handle(self, request: Request, connection: "HttpConnection") -> None:
        """Answer, now or later."""

    def refused(self) -> None:
        """Note that a connection found no worker and no place."""

    def opened(self, connection: "HttpConnection") -> None:
        """A worker reads from the connection."""

    def closed(self, connection: "HttpConnection") -> None:
        """The connection has ended."""


class HttpConnection(asyncio.Protocol):
    """One connection; it serves one request and is then closed, as all of MindIE's replies say."""

    __slots__ = (
        "_body",
        "_continue",
        "_done",
        "_headed",
        "_length",
        "_parser",
        "_plane",
        "_served",
        "_size",
        "_transport",
        "_unread",
        "_url",
        "identity",
        "on_lost",
        "request_begun",
        "stream",
        "write",
    )

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""
        self._body: list[bytes] = []
        self._size = 0
        self._length = 0
        self._continue = False
        self._done = False
        self._headed = False
        self._served = False
        self._unread = b""
        self.identity = ""
        self.request_begun = False
        self.stream: Stream | None = None
        self.on_lost: Callable[[Stream], None] | None = None
        self.write: Callable[[bytes], None] = _unconnected
        self._transport: asyncio.Transport | None = None

    # --- the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Find a worker, or wait unread, or go."""
        self._transport = cast("asyncio.Transport", transport)
        self.write = self._transport.write
        if not self._plane.links.admit(self):
            self._plane.refused()
            self._transport.abort()

    def serve(self) -> None:
        """A worker is free: read."""
        self._served = True
        if self._transport is None:
            return
        self._plane.opened(self)
        if self._unread:
            self._transport.resume_reading()
            data, self._unread = self._unread, b""
            self.data_received(data)

    def data_received(self, data: bytes) -> None:
        """Parse; anything that is no HTTP is answered with 400.

        Without a worker the first piece is kept and no more is read. (The event loop begins to read after
        `connection_made`, so a pause there would be forgotten.)
        """
        if not self._served:
            self._unread += data
            if self._transport is not None:
                self._transport.pause_reading()
            return
        if self._done:
            return
        self.request_begun = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.close_with(responses.plain(400))
        except httptools.HttpParserError:
            self.close_with(responses.plain(400))

    def eof_received(self) -> bool:
        """A client may close its half and still wait for the reply."""
        return not self._done and self.stream is not None

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why does not matter
        """Free the worker; a request that is still worked on is cancelled."""
        self._transport = None
        self.write = _unconnected
        self._plane.links.release(self)
        self._plane.closed(self)
        if self.stream is not None and self.on_lost is not None:
            self.on_lost(self.stream)
            self.stream = None

    # --- the parser's side

    def on_url(self, url: bytes) -> None:
        """Collect the target of the request."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep what decides on the body."""
        lower = name.lower()
        if lower == b"content-length":
            self._length = int(value) if value.isdigit() else 0
        elif lower == b"expect":
            self._continue = value.lower() == b"100-continue"

    def on_headers_complete(self) -> None:
        """Refuse a body that is too large before it comes."""
        if self._length > self._plane.body_limit:
            self.close_with(self._plane.too_large)
        elif self._continue:
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """Collect the body."""
        self._size += len(body)
        if self._size > self._plane.body_limit:
            self.close_with(self._plane.too_large)
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        """Hand the request on; what comes after it on this connection is not read."""
        if self._done:
            return
        self._done = True
        self.identity = self._plane.next_identity()
        target = httptools.parse_url(self._url)
        request = Request(
            method=self._parser.get_method().decode(),
            path=unquote((target.path or b"/").decode("latin-1")),
            query=(target.query or b"").decode("latin-1"),
            body=b"".join(self._body),
            identity=self.identity,
            peer=self.peer,
        )
        self._body.clear()
        self._plane.handle(request, self)

    # --- the handlers' side

    @property
    def peer(self) -> str:
        """Address and port of the client."""
        name = self._transport.get_extra_info("peername") if self._transport else None
        return f"{name[0]}:{name[1]}" if name else "unknown"

    def close_with(self, data: bytes) -> None:
        """Write these last bytes and close."""
        self._done = True
        self.stream = None
        if self._transport is not None:
            self.write(data)
            self._transport.close()

    def reply(self, status: int, body: str = "", *, content_type: str = responses.JSON) -> None:
        """Answer and close."""
        self.close_with(responses.plain(status, body, content_type=content_type, request=self.identity))

    def open_stream(self) -> None:
        """Send the head of a stream."""
        self._headed = True
        self.write(responses.stream_head(self.identity))

    def end(self, data: bytes) -> None:
        """Send the last piece of a stream and close."""
        self.close_with(data)

    def answer(self, body: str) -> None:
        """Answer a request that is not streamed."""
        self.reply(200, body)

    def fail(self, status: int, message: str) -> None:
        """Send an error; inside a stream it is plain text in the body, after the 200."""
        if self._headed:
            self.close_with(responses.chunk(message.encode()) + responses.END)
        else:
            self.close_with(responses.error(status, message, request=self.identity))

    def cut(self) -> None:
        """Close without the end of the stream."""
        self.stream = None
        self._done = True
        if self._transport is not None:
            self._transport.close()


def _unconnected(_data: bytes) -> None:
    """What is written to a client that has gone is lost."""
