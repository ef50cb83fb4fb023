"""Open loop: requests go out by the clock, whether or not earlier ones are over."""

import asyncio
import random
from collections import deque
from collections.abc import Iterator
from time import perf_counter

from autotune.load.client.crew import Crew
from autotune.load.client.door import Door
from autotune.load.client.plan import LoadPlan
from autotune.load.client.recorder import Recorder
from autotune.load.client.slot import Slot
from autotune.load.client.supply import Supply

_FRESH_SECONDS = 2.0
"""A connection that was idle for longer may already be closed by the server: another one is opened."""


def arrival_gaps(rate: float, *, poisson: bool, seed: int) -> Iterator[float]:
    """Seconds between arrivals, `rate` a second: exponential by seed, or all the same."""
    source = random.Random(f"arrivals {seed}")  # noqa: S311 - repeatable on purpose
    while True:
        yield source.expovariate(rate) if poisson else 1.0 / rate


class OpenLoop(Crew):
    """Takes any free connection, or opens another, up to `plan.concurrency` requests at once."""

    def __init__(
        self, plan: LoadPlan, supply: Supply, door: Door, recorder: Recorder, gaps: Iterator[float]
    ) -> None:
        super().__init__(plan, supply, door, recorder)
        self._gaps = gaps
        self._free: deque[Slot] = deque()
        self._late: deque[float] = deque()
        self._due = 0.0
        self._exhausted = False

    def start(self) -> None:
        """The first request is due one gap from now."""
        self._free.extend(self._slots)
        self._due = perf_counter() + next(self._gaps)
        self._arrive()

    def slot_free(self, slot: Slot, *, failed: bool) -> None:
        """Take a request that waits for a free client, else wait."""
        del failed
        if self._stopping:
            return
        self._free.append(slot)
        if self._late:
            self._send(self._late.popleft())
        self._end_when_over()

    def _arrive(self) -> None:
        if self._stopping or self._exhausted:
            return
        now = perf_counter()
        while self._due <= now and not self._exhausted:
            self._send(self._due)
            self._due += next(self._gaps)
        self._end_when_over()
        asyncio.get_running_loop().call_later(max(0.0, self._due - perf_counter()), self._arrive)

    def _send(self, scheduled: float) -> None:
        slot = self._next_slot()
        if slot is None:
            self._late.append(scheduled)
            return
        message = self._supply.take()
        if message is None:
            self._exhausted = True
            self._late.clear()
            self._free.append(slot)
            return
        slot.go(message, scheduled)

    def _next_slot(self) -> Slot | None:
        """The one that was used last, as its connection is the freshest."""
        if self._free:
            slot = self._free.pop()
            slot.forget_stale(perf_counter() - _FRESH_SECONDS)
            return slot
        if len(self._slots) >= self._plan.concurrency:
            return None
        self._slots.append(Slot(self, self._door, self._recorder))
        return self._slots[-1]

    def _end_when_over(self) -> None:
        if self._exhausted and len(self._free) == len(self._slots):
            self.done.set()
