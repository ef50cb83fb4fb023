"""Slot: one client; sends its next request when the last one is over."""

import asyncio
from time import perf_counter
from typing import Protocol

from autotune.load.client.connection import Connection
from autotune.load.client.door import Door
from autotune.load.client.message import Message
from autotune.load.client.reaching import cause_of
from autotune.load.client.recorder import Recorder


class Owner(Protocol):
    """Who decides when a slot goes again."""

    def slot_free(self, slot: "Slot", *, failed: bool) -> None:
        """The slot's request is over."""

    def part(self, connection: Connection) -> None:
        """The connection is not needed any more; the server closes it."""


class Slot:
    """Holds at most one open connection, and opens another when the server closes it."""

    __slots__ = ("_closed", "_connecting", "_connection", "_door", "_owner", "_recorder", "connecting_since")

    def __init__(self, owner: Owner, door: Door, recorder: Recorder) -> None:
        self._owner = owner
        self._door = door
        self._recorder = recorder
        self._connection: Connection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._closed = False
        self.connecting_since: float | None = None

    @property
    def connection(self) -> Connection | None:
        """The connection it holds now."""
        return self._connection

    async def open(self) -> None:
        """Connect before the clock starts. Raises OSError."""
        self._connection = await self._door.connect(self)

    def go(self, message: Message, scheduled: float) -> None:
        """Send a request now."""
        self._recorder.issued()
        connection = self._connection
        if connection is not None and connection.open:
            connection.send(message, scheduled)
            return
        self.connecting_since = perf_counter()
        self._connecting = asyncio.get_running_loop().create_task(self._connect_and_send(message, scheduled))

    def forget_stale(self, since: float) -> None:
        """Part with a connection that was last used before `since`."""
        connection = self._connection
        if connection is not None and connection.open and connection.last_used < since:
            self._connection = None
            self._owner.part(connection)

    def give_up_connecting(self) -> None:
        """The server does not take the connection."""
        if self._connecting is not None:
            self._connecting.cancel()

    def reply_ended(self, connection: Connection, *, reusable: bool) -> None:
        """From the connection: the request is over."""
        failed = not reusable and not connection.open
        if not reusable and connection is self._connection:
            self._connection = None
            self._owner.part(connection)
        self._owner.slot_free(self, failed=failed)

    def close(self) -> None:
        """Drop everything at once; nothing that happens now is written down."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
        if self._connection is not None:
            self._connection.abort()

    async def _connect_and_send(self, message: Message, scheduled: float) -> None:
        cause, detail = "", ""
        try:
            self._connection = await self._door.connect(self)
        except asyncio.CancelledError:
            if self._closed:
                raise
            cause, detail = "connect_timeout", "the connection was not accepted in time"
        except OSError as error:
            cause, detail = cause_of(error), str(error)
        self._connecting = None
        self.connecting_since = None
        if cause or self._connection is None:
            self._recorder.failed_reply(cause, detail, perf_counter())
            self._owner.slot_free(self, failed=True)
        else:
            self._connection.send(message, scheduled)
