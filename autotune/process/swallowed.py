"""Swallowed: a Ctrl-C that Python drops, since it came while an object was finalised, is told again."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_AGAIN_SECONDS = 0.05


def interrupted() -> int:
    """What is told again where nobody says otherwise."""
    return signal.SIGINT


@contextmanager
def told_again(number: Callable[[], int] = interrupted) -> Iterator[None]:
    """Inside, a KeyboardInterrupt that Python drops sends its signal to this process again, a moment later.

    `number` is asked for the signal. Other errors of finalisers are told as before.
    """
    told, over = sys.unraisablehook, threading.Event()

    def hook(dropped: "sys.UnraisableHookArgs") -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            told(dropped)
            return
        left = threading.Event()
        threading.Thread(target=_tell, args=(left, over, number()), daemon=True).start()
        left.set()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = told
        over.set()


def _tell(left: threading.Event, over: threading.Event, number: int) -> None:
    """Once the hook has been left, where it would be dropped again, and unless all is over."""
    left.wait()
    if not over.wait(_AGAIN_SECONDS):
        os.kill(os.getpid(), number)
