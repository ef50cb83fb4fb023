"""A one-shot timer with microsecond resolution; the event loop's own timers round to milliseconds."""

import asyncio
import ctypes
import errno
import os
from collections.abc import Callable

_CLOCK_MONOTONIC = 1
_ABSOLUTE = 1
_NONBLOCK = 0o4000
_CLOEXEC = 0o2000000
_NANOSECONDS = 1_000_000_000


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Itimerspec(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class PreciseTimer:
    """Calls `fire` once at an absolute time of the monotonic clock, by the kernel's timerfd."""

    def __init__(self, loop: asyncio.AbstractEventLoop, fire: Callable[[], None]) -> None:
        self._loop = loop
        self._fire = fire
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._spec = _Itimerspec()
        self._descriptor = self._libc.timerfd_create(_CLOCK_MONOTONIC, _NONBLOCK | _CLOEXEC)
        if self._descriptor < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        loop.add_reader(self._descriptor, self._expired)

    def set(self, moment: float) -> None:
        """Fire at this monotonic time in seconds; a time that has passed fires at once."""
        nanoseconds = max(1, int(moment * _NANOSECONDS))
        self._spec.value.seconds, self._spec.value.nanoseconds = divmod(nanoseconds, _NANOSECONDS)
        self._libc.timerfd_settime(self._descriptor, _ABSOLUTE, ctypes.byref(self._spec), None)

    def close(self) -> None:
        """Give the descriptor back."""
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)

    def _expired(self) -> None:
        try:
            os.read(self._descriptor, 8)
        except OSError as error:
            if error.errno != errno.EAGAIN:
                raise
            return
        self._fire()
