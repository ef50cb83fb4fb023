"""Connection: one socket, one reply at a time; raw bytes to events with a single time stamp a read."""

import asyncio
from math import nan
from time import perf_counter
from typing import Protocol, cast

import httptools

from autotune.load.client.api import Api
from autotune.load.client.ending import Reply, cause_of_loss, judged
from autotune.load.client.framing import chunk_heads, document_of, is_done, payload, split_events
from autotune.load.client.message import Message
from autotune.load.client.outlet import Outlet
from autotune.load.client.recorder import Recorder
from autotune.units import MiB

_NEVER = b"\0no event holds this\0"
_CHUNK_HEADS = chunk_heads(4096)
"""By the length of a read: how it begins when it is exactly one chunk."""
_LONGEST_READ = len(_CHUNK_HEADS)
_LONGEST_HEAD = 6
"""Bytes that the head of such a chunk can't pass."""
_LONGEST_COMPLAINT = 2048
_LONGEST_PIECE = 8 * MiB  # of an event or a whole reply: nobody sends so much on purpose
_OK = 200
_DONE = b"data: [DONE]"


class Holder(Protocol):
    """Who gave the connection its request."""

    def reply_ended(self, connection: "Connection", *, reusable: bool) -> None:
        """The reply is complete or has failed; the connection can take another request or can't."""


class Connection(asyncio.Protocol):
    """Writes requests, reads replies, tells the recorder.

    What marks an event that carries a token is learned from the first one, and known from then on.

    An ordinary read is exactly one chunk with one event that carries a token and nothing else, told by a
    mark at the same distance from its end as in the event before. It costs one time stamp, five cheap looks
    at the bytes and one number into an array. The HTTP parser need not see it, since a whole chunk leaves
    it in the state it was in. Whatever is not ordinary goes through the parser, which only gathers the pieces
    of the body that a read brought; they are looked at together.
    """

    __slots__ = (
        "_api",
        "_bodies",
        "_body",
        "_chunk_end",
        "_closed",
        "_delimited",
        "_end",
        "_events",
        "_fast",
        "_gap",
        "_holder",
        "_last",
        "_last_byte",
        "_leads_in",
        "_mark",
        "_mark_place",
        "_message",
        "_needle",
        "_now",
        "_outlet",
        "_parser",
        "_recorder",
        "_reply",
        "_tail",
        "on_body",
        "parted",
    )  # fmt: skip

    def __init__(self, holder: Holder, recorder: Recorder, api: Api) -> None:
        self._holder = holder
        self._recorder = recorder
        self._gap = recorder.gap
        self._api = api
        self._leads_in = api.leads_in
        self._end = api.end
        self._chunk_end = api.end + b"\r\n"
        self._mark = api.end[:1]
        self._mark_place = len(api.end) + 2
        self._last_byte = api.end[-1]
        self._outlet: Outlet | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._message: Message | None = None
        self._reply = Reply()
        self._now = self._last = 0.0
        self._events = 0
        self._needle = _NEVER
        self._fast = 0
        self._tail = b""
        self._body = b""
        self._bodies: list[bytes] = []
        self.on_body = self._bodies.append
        """What the HTTP parser calls with each piece of the body."""
        self._delimited = False
        self._closed = True
        self.parted = 0.0
        """When the holder let go of it; the server closes it then, or the sweep does."""

    @property
    def open(self) -> bool:
        """Whether another request can be written."""
        return not self._closed

    @property
    def last_used(self) -> float:
        """When the last event came or the last request went; 0 before the first."""
        return self._last

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is ready."""
        self._outlet = Outlet(cast("asyncio.Transport", transport))
        self._parser = httptools.HttpResponseParser(self)
        self._last = perf_counter()
        self._closed = False

    def send(self, message: Message, scheduled: float) -> None:
        """Write one request; the clock of its reply starts here."""
        self._message = message
        self._events = 0
        if self._leads_in:
            self._needle = _NEVER
        self._fast = 0
        self._tail = self._body = b""
        self._delimited = False
        now = self._last = perf_counter()
        self._reply = Reply(scheduled=scheduled, sent=now)
        if self._outlet is not None:
            self._outlet.write(message.data)
        else:
            asyncio.get_running_loop().call_soon(
                self._fail, "reset", "closed before the request was sent", now
            )

    def abort(self) -> None:
        """Close at once, without telling anybody."""
        self._message = None
        if self._outlet is not None:
            self._outlet.abort()

    def overdue(
        self, now: float, *, first_seconds: float, stall_seconds: float, total_seconds: float
    ) -> None:
        """Give up a reply that keeps its client waiting for too long."""
        if self._message is None:
            return
        sent, begun = now - self._reply.sent, self._reply.first == self._reply.first
        if sent > total_seconds:
            self._fail("timeout", f"not complete after {total_seconds:.0f} s", now)
        elif not begun and sent > first_seconds:
            self._fail("first_token_timeout", f"no token after {first_seconds:.0f} s", now)
        elif begun and now - self._last > stall_seconds:
            self._fail("stall", f"no event for {stall_seconds:.0f} s", now)

    # The transport's side.

    def data_received(self, data: bytes) -> None:
        """One read."""
        now = perf_counter()
        size = len(data)
        if (
            data.startswith(self._needle, size - self._fast)
            and size < _LONGEST_READ
            and data.startswith(_CHUNK_HEADS[size])
            and data.find(self._mark, _LONGEST_HEAD) == size - self._mark_place
            and data[-3] == self._last_byte
        ):
            recorder = self._recorder
            if now >= recorder.edge:
                recorder.roll(now)
            recorder.events += 1
            self._gap(now - self._last)
            self._last = now
            self._events += 1
            return
        self._now = now
        self._parse(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of the connection: ends a reply only when its last event has come."""
        self._closed = True
        self._parser = None
        secure = self._outlet is not None and self._outlet.secure
        self._outlet = None
        if self._message is None:
            return
        now = perf_counter()
        if self._tail and not self._delimited:
            self._last_piece()
        asked = self._message.asked_tokens
        if self._reply.is_whole(self._body, delimited=self._delimited, all_there=self._events >= asked):
            self._complete(now, reusable=False)
        else:
            lost = cause_of_loss(exc, answered=self._reply.status != 0, secure=secure)
            self._fail(lost.cause, self._reply.error or lost.detail, now)

    # The HTTP parser's side.

    def on_header(self, name: bytes, value: bytes) -> None:
        """Only the headers that tell where the body ends matter."""
        if len(name) in {14, 17} and name.lower() in {b"content-length", b"transfer-encoding"}:
            self._delimited = bool(value)

    def on_headers_complete(self) -> None:
        """Status is known."""
        if self._parser is not None:
            status = self._reply.status = self._parser.get_status_code()
            if status != _OK:
                self._needle = _NEVER

    def on_message_complete(self) -> None:
        """The transfer is complete in itself: last chunk or last byte of the stated length."""
        if self._message is None or not self._delimited or self._parser is None:
            return
        self._read_bodies()
        if self._tail:
            self._last_piece()
        self._complete(self._now, reusable=self._parser.should_keep_alive())

    # Off the hot path.

    def _parse(self, data: bytes) -> None:
        parser = self._parser
        if parser is None:
            return
        self._fast = 0
        bodies = self._bodies
        try:
            parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._read_bodies()
            self._fail("bad_reply", f"no HTTP reply: {error}", self._now)
            return
        if not bodies:
            return
        last = bodies[-1]
        self._read_bodies()
        # The line end after an event that ends the last piece belongs to no piece: the chunk is complete.
        if self._message and not self._tail and data.endswith(self._chunk_end) and last.endswith(self._end):
            place = data.rfind(self._needle)
            self._fast = len(data) - place if place >= 0 else 0

    def _read_bodies(self) -> None:
        """The pieces of the body that this read brought, as one."""
        bodies = self._bodies
        if bodies:
            body = bodies[0] if len(bodies) == 1 else b"".join(bodies)
            bodies.clear()
            self._look_closely(body)

    def _look_closely(self, body: bytes) -> None:
        message = self._message
        if message is None:
            return
        if self._reply.status != _OK:
            self._body = (self._body + body)[:_LONGEST_COMPLAINT]
        elif len(self._body) + len(self._tail) > _LONGEST_PIECE:
            self._fail("bad_reply", f"more than {_LONGEST_PIECE // MiB} MiB in one piece", self._now)
        elif not message.streaming:
            self._body += body
        else:
            events, self._tail = split_events(self._tail + body, self._end)
            self._take_all(events)
            if self._reply.final and not self._delimited:
                self._complete(self._now, reusable=False)

    def _take_all(self, events: list[bytes]) -> None:
        ordinary = 0
        for event in events:
            if self._needle in event:
                ordinary += 1
            else:
                self._count(ordinary)
                ordinary = 0
                self._take(event)
        self._count(ordinary)

    def _take(self, event: bytes) -> None:
        if event == _DONE:
            self._reply.final = True
            return
        data = payload(event)
        if not data:
            return
        if is_done(data):
            self._reply.final = True
            return
        document = document_of(data)
        if document is None:
            self._reply.error = self._reply.error or data[:200].decode("utf-8", "replace")
            return
        facts = self._api.event(document)
        if facts.token:
            self._count(1)
            if facts.finish is None and not facts.final:
                self._learn(event)
        self._reply.learn(facts)

    def _learn(self, event: bytes) -> None:
        """From the first event that carries a token: what marks all others like it."""
        for mark in self._api.ordinary:
            if mark in event:
                self._needle = mark
                return

    def _count(self, events: int) -> None:
        """So many events that carry a token, in one read."""
        if not events:
            return
        now = self._now
        recorder = self._recorder
        if now >= recorder.edge:
            recorder.roll(now)
        recorder.events += events
        if self._events:
            self._gap(now - self._last)
        else:
            self._reply.first = now
            recorder.running += 1
        if events > 1:
            recorder.gaps.frombytes(bytes(8 * (events - 1)))
        self._last = now
        self._events += events

    def _last_piece(self) -> None:
        """What stands after the last event end: an event without its end, or a complaint."""
        tail, self._tail = self._tail, b""
        if self._reply.status != _OK or self._message is None:
            return
        document = document_of(payload(tail))
        if not self._events and document is not None and not tail.lstrip().startswith(b"data:"):
            self._body = tail
            return
        whole = document is not None or is_done(payload(tail))
        if whole or self._delimited:
            self._take_all([tail])

    def _complete(self, now: float, *, reusable: bool) -> None:
        message, self._message = self._message, None
        if message is None:
            return
        if self._body and self._reply.status == _OK:
            self._read_whole(now)
        self._finish_counting()
        reply = self._reply
        reply.complaint = self._body
        if reply.prompt_tokens is None:
            reply.prompt_tokens = message.prompt_tokens
        verdict = judged(
            reply,
            asked_tokens=message.asked_tokens,
            ignore_eos=message.ignore_eos,
            tells_finish=self._api.tells_finish,
        )
        if verdict.cause is not None:
            self._recorder.failed_reply(verdict.cause, verdict.detail, now)
        else:
            whole = reply.tokens or 0 if reply.whole else 0
            reply.end, reply.short = now, verdict.short
            self._recorder.ended(reply, whole_tokens=whole)
        self._holder.reply_ended(self, reusable=reusable and not self._closed)

    def _read_whole(self, now: float) -> None:
        document = document_of(self._body)
        if document is None:
            self._reply.error = "the reply is no JSON document"
            return
        facts = self._api.full(document)
        self._reply.learn(facts)
        self._reply.whole = True
        if facts.token and not self._events:
            self._reply.first = self._last = now

    def _finish_counting(self) -> None:
        self._fast = 0
        if self._events:
            self._recorder.running -= 1
        self._reply.events = self._events
        self._reply.last = self._last if self._reply.first == self._reply.first else nan

    def _fail(self, cause: str, detail: str, now: float) -> None:
        if self._message is None:
            return
        self._message = None
        self._finish_counting()
        self._recorder.failed_reply(cause, detail, now)
        if self._outlet is not None:
            self._outlet.abort()
        self._closed = True
        self._holder.reply_ended(self, reusable=False)
