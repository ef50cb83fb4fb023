"""Closed loop: a fixed number of clients, each with one request at a time."""

import asyncio
from time import perf_counter

from autotune.load.client.crew import Crew
from autotune.load.client.door import Door
from autotune.load.client.plan import LoadPlan
from autotune.load.client.recorder import Recorder
from autotune.load.client.slot import Slot
from autotune.load.client.supply import Supply

_PAUSE_SECONDS = 0.25
"""Between tries of a client whose server does not answer."""


class ClosedLoop(Crew):
    """Every client sends its next request as soon as the last one is over."""

    def __init__(self, plan: LoadPlan, supply: Supply, door: Door, recorder: Recorder) -> None:
        super().__init__(plan, supply, door, recorder)
        self._active = 0
        self._hopeless = 10 + plan.concurrency // 4

    def start(self) -> None:
        """Let all clients go, over the ramp when there is one."""
        loop = asyncio.get_running_loop()
        ramp = self._plan.ramp_seconds
        self._active = len(self._slots)
        for index, slot in enumerate(self._slots):
            if ramp <= 0:
                self._go(slot)
            else:
                loop.call_later(ramp * index / len(self._slots), self._go, slot)

    def slot_free(self, slot: Slot, *, failed: bool) -> None:
        """Go again, after a pause when the service seems to be gone."""
        if self._stopping:
            return
        if failed and self._recorder.failures_in_a_row > self._hopeless:
            asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._go, slot)
        else:
            self._go(slot)

    def _go(self, slot: Slot) -> None:
        if self._stopping:
            return
        message = self._supply.take()
        if message is not None:
            slot.go(message, perf_counter())
            return
        self._active -= 1
        if self._active == 0:
            self.done.set()
