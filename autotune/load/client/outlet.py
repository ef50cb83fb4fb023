"""Outlet: the socket under a transport; how requests leave it, and how it closes."""

import asyncio
import os
import socket

from autotune.process.linger import NO_LINGER

_NO_FILE = -1


class Outlet:
    """Writes at once where the socket takes it; the loop would first read whatever has come."""

    __slots__ = ("_file", "_transport", "secure")

    def __init__(self, transport: asyncio.Transport) -> None:
        door = transport.get_extra_info("socket")
        door.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self.secure = transport.get_extra_info("sslcontext") is not None
        """TLS: the transport has to write."""
        self._file = _NO_FILE if self.secure else door.fileno()
        self._transport = transport

    def write(self, data: bytes) -> None:
        """Send it now, or as soon as the socket takes it. Only before the connection is lost."""
        sent = 0
        if self._file != _NO_FILE and not self._transport.get_write_buffer_size():
            try:
                sent = os.write(self._file, data)
            except OSError:  # full, or broken: the transport waits, or tells
                sent = 0
        if sent < len(data):
            self._transport.write(data[sent:])

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()
