"""Interruption: where Ctrl-C, SIGTERM or a lost terminal becomes an end that puts everything back."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from autotune.model.protocols import Clock
from autotune.process.held_back import is_switched_off

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_SECONDS = 0.05
"""After which a wish to stop that Python swallowed is told once more."""


class InterruptibleClock:
    """A clock whose sleep is the place where a wish to stop takes effect."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wanted = 0
        self._number = int(signal.SIGINT)
        self._delivered = False
        self._inside = False
        self._open = False
        self._again: threading.Timer | None = None

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
        told = sys.unraisablehook
        sys.unraisablehook = self._told_again(told)
        try:
            yield
        finally:
            sys.unraisablehook = told
            if self._again is not None:
                self._again.cancel()
            for number, handler in before:
                signal.signal(number, handler)

    def _told_again(
        self, told: Callable[["sys.UnraisableHookArgs"], object]
    ) -> Callable[["sys.UnraisableHookArgs"], object]:
        """Tell a wish again that came while an object was finalised: Python drops what is raised there."""

        def hook(dropped: "sys.UnraisableHookArgs") -> None:
            if not issubclass(dropped.exc_type, KeyboardInterrupt):
                told(dropped)
                return
            self._delivered, self._open = False, self._inside
            self._again = threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), self._number))
            self._again.daemon = True
            self._again.start()

        return hook

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
