"""Crew: the slots of one process, closed or open loop."""

import asyncio
from abc import ABC, abstractmethod
from time import perf_counter

from autotune.load.client.connection import Connection
from autotune.load.client.door import Door
from autotune.load.client.plan import LoadPlan, Patience
from autotune.load.client.recorder import Recorder
from autotune.load.client.slot import Slot
from autotune.load.client.supply import Supply

_OPENED_AT_ONCE = 64
_LINGER_SECONDS = 2.0


class Crew(ABC):
    """Common to both loops: opening, parting, giving up, closing."""

    def __init__(self, plan: LoadPlan, supply: Supply, door: Door, recorder: Recorder) -> None:
        self._plan = plan
        self._supply = supply
        self._recorder = recorder
        self._door = door
        self._slots: list[Slot] = []
        self._parted: set[Connection] = set()
        self.done = asyncio.Event()
        self._stopping = False

    async def open_all(self, count: int) -> None:
        """Connect so many slots before the clock starts. Raises OSError when the service takes none."""
        self._slots = [Slot(self, self._door, self._recorder) for _ in range(count)]
        for begin in range(0, len(self._slots), _OPENED_AT_ONCE):
            await asyncio.gather(*(slot.open() for slot in self._slots[begin : begin + _OPENED_AT_ONCE]))

    def part(self, connection: Connection) -> None:
        """Let the server close it; it is closed from here when that takes too long."""
        if connection.open:
            connection.parted = perf_counter()
            self._parted.add(connection)

    def sweep(self, now: float) -> None:
        """Give up what takes too long; called about once a second."""
        patience = self._plan.patience
        for slot in self._slots:
            self._sweep_slot(slot, now, patience)
        for connection in [one for one in self._parted if not one.open or now - one.parted > _LINGER_SECONDS]:
            connection.abort()
            self._parted.discard(connection)

    def close(self) -> None:
        """Drop every connection; requests on their way are not waited for."""
        self._stopping = True
        for slot in self._slots:
            slot.close()
        for connection in self._parted:
            connection.abort()

    def _sweep_slot(self, slot: Slot, now: float, patience: Patience) -> None:
        if slot.connecting_since is not None and now - slot.connecting_since > patience.connect:
            slot.give_up_connecting()
        elif slot.connection is not None:
            slot.connection.overdue(
                now,
                first_seconds=patience.first_token,
                stall_seconds=patience.stall,
                total_seconds=patience.total,
            )

    @abstractmethod
    def start(self) -> None:
        """Let the first requests go."""

    @abstractmethod
    def slot_free(self, slot: Slot, *, failed: bool) -> None:
        """The slot's request is over."""
