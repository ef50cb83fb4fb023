"""Patience: go on trying while the database is away; a launch is worth more than a minute of waiting."""

from collections.abc import Callable
from typing import TypeVar

from autotune.events import Warned
from autotune.model.protocols import Clock, Listener
from autotune.store.storage import StorageFailed

T = TypeVar("T")
GIVE_UP_SECONDS = 900.0
_PAUSES = (0.5, 1.0, 2.0, 5.0)


class Patience:
    """Repeats what the database refuses, with growing pauses, for so long."""

    def __init__(self, clock: Clock, listener: Listener, *, seconds: float = GIVE_UP_SECONDS) -> None:
        self._clock = clock
        self._listener = listener
        self._seconds = seconds

    def __call__(self, action: Callable[[], T]) -> T:
        """The action's result. Raises StorageFailed when the database stays away."""
        began = self._clock.now()
        tries = 0
        while True:
            try:
                found = action()
            except StorageFailed as failure:
                if self._clock.now() - began > self._seconds:
                    raise
                if tries == 0:
                    self._listener(Warned(message=f"{failure.message}; trying again"))
                self._clock.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
                tries += 1
                continue
            if tries:
                self._listener(Warned(message="the database answers again"))
            return found
