"""Hold interrupts back while something must not stop half-way: a stop, a restore, a start."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from autotune.errors import NotRestored

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_back() -> Iterator[None]:
    """Keep SIGINT, SIGTERM and SIGHUP for the end of the block, then let their handlers see them.

    Only the main thread runs signal handlers, so elsewhere nothing needs holding. A handler that raises,
    as Python's own for SIGINT does, raises at the end of the block; only NotRestored outranks it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def keep(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    before = [(number, signal.signal(number, keep)) for number in INTERRUPTS if not is_switched_off(number)]
    try:
        yield
    except NotRestored:
        came.clear()
        raise
    finally:
        for sign, handler in before:
            signal.signal(sign, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


def is_switched_off(number: signal.Signals) -> bool:
    """Whether the starter wants a lost terminal ignored, as nohup does."""
    return number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
