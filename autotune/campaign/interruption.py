"""Interruption: where Ctrl-C, SIGTERM or a lost terminal becomes an end that puts everything back."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from autotune.model.protocols import Clock
from autotune.process.held_back import is_switched_off
from autotune.process.swallowed import told_again

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class InterruptibleClock:
    """A clock whose sleep is the place where a wish to stop takes effect."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wanted = 0
        self._number = int(signal.SIGINT)
        self._delivered = False
        self._inside = False
        self._open = False

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return self._clock.now()

    def wall(self) -> float:
        """Seconds since the epoch."""
        return self._clock.wall()

    def sleep(self, seconds: float) -> None:
        """Wait; raises KeyboardInterrupt once for the first wish to stop."""
        self._deliver()
        self._clock.sleep(seconds)
        self._deliver()

    @property
    def stop_wanted(self) -> bool:
        """True once somebody asked to stop."""
        return self._wanted > 0

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Inside, a signal interrupts at once; outside, it waits for the next sleep.

        What puts things back runs outside, so that it is never cut in two.
        """
        self._deliver()
        self._inside = self._open = True
        try:
            yield
        finally:
            self._inside = self._open = False

    @contextmanager
    def stopping_on_signals(self) -> Iterator[None]:
        """Turn SIGINT, SIGTERM and SIGHUP into KeyboardInterrupt at the places that allow it.

        A SIGHUP that nohup has switched off stays off.
        """
        heard = [number for number in _SIGNALS if not is_switched_off(number)]
        before = [(number, signal.signal(number, self._note)) for number in heard]
        try:
            with told_again(self._not_delivered):
                yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)

    def _not_delivered(self) -> int:
        """Python dropped the interrupt: the wish is open as before it. Returns its signal."""
        self._delivered, self._open = False, self._inside
        return self._number

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._number = number
        self._wanted += 1
        if self._open:
            self._open = False
            self._deliver()

    def _deliver(self) -> None:
        if self._wanted and not self._delivered:
            self._delivered = True
            raise KeyboardInterrupt
