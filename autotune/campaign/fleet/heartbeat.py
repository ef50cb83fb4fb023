"""Heartbeat: a thread that renews the lease of a launch while the launch goes on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from autotune.errors import AutotuneError

_AGAIN_SECONDS = 1.0
"""After a beat that failed."""


@contextmanager
def beating(renew: Callable[[], None], *, every: float) -> Iterator[None]:
    """Call `renew` every so many seconds for the time of the block.

    A beat that fails is tried again soon; whether the lease was lost is found out when the launch ends.
    """
    over = threading.Event()
    thread = threading.Thread(target=_beat, args=(renew, over, every), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=every)


def _beat(renew: Callable[[], None], over: threading.Event, every: float) -> None:
    pause = every
    while not over.wait(pause):
        pause = min(every, _AGAIN_SECONDS)
        with suppress(AutotuneError):
            renew()
            pause = every
