"""WorkerPool: client processes that outlive a test, so that drawing and deciding never run beside streams."""

from __future__ import annotations

import weakref
from multiprocessing.connection import Connection, wait
from time import perf_counter
from typing import TYPE_CHECKING

from autotune.load.client.errand import Enough, Go, Ready, Share
from autotune.load.client.shares import merged, row_sum, shares_of
from autotune.load.client.tally import Tally
from autotune.load.client.worker_process import ClientDied, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from autotune.load.client.plan import LoadPlan
    from autotune.load.client.recorder import Bucket

_HEAD_START_SECONDS = 0.02
_TICK_SECONDS = 0.05
_OPENING_SECONDS = 120.0
"""Beyond the patience for connections: a large data set takes its time to be written out."""
_SILENT_SECONDS = 60.0
"""A client process that runs tells of a bucket every half second."""


class WorkerPool:
    """A context. The processes are started when they are first needed and wait between tests.

    They also end when the pool is forgotten, or with the interpreter.
    """

    def __init__(self) -> None:
        self._workers: list[WorkerProcess] = []
        weakref.finalize(self, _end, self._workers, at_once=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def prepare(self, count: int) -> None:
        """Have so many processes; returns before they are up."""
        for gone in [worker for worker in self._workers if not worker.living]:
            gone.end(at_once=True)
            self._workers.remove(gone)
        while len(self._workers) < count:
            self._workers.append(WorkerProcess())

    def run(
        self,
        plan: LoadPlan,
        see: Callable[[Sequence[Bucket]], bool],
        *,
        workers: int,
        cpus: tuple[int, ...] = (),
    ) -> Tally:
        """Run the test in `workers` processes. Raises Unreached or ClientDied.

        A single one may use all `cpus`; several have one each, in turn. After an error none is used again.
        """
        shares = shares_of(plan, workers)
        self.prepare(len(shares))
        crew = self._workers[: len(shares)]
        done = False
        try:
            tally = _run(crew, shares, see, cpus)
            done = True
        finally:
            if not done:
                self.close(at_once=True)
        return tally

    def close(self, *, at_once: bool = False) -> None:
        """End all processes; those of a later test are new ones."""
        _end(self._workers, at_once=at_once)


def _end(workers: list[WorkerProcess], *, at_once: bool) -> None:
    while workers:
        workers.pop().end(at_once=at_once)


def _run(
    crew: Sequence[WorkerProcess],
    shares: Sequence[LoadPlan],
    see: Callable[[Sequence[Bucket]], bool],
    cpus: tuple[int, ...],
) -> Tally:
    for number, (worker, plan) in enumerate(zip(crew, shares, strict=True)):
        own = cpus if len(crew) == 1 or not cpus else (cpus[number % len(cpus)],)
        worker.send(Share(plan=plan, cpus=own))
    for worker, plan in zip(crew, shares, strict=True):
        said = worker.receive(plan.patience.connect + _OPENING_SECONDS)
        assert isinstance(said, Ready)
    at = perf_counter() + _HEAD_START_SECONDS
    for worker in crew:
        worker.send(Go(at=at))
    return _Collector(crew, see).tally()


class _Collector:
    """Takes buckets and tallies as they come, and hands on what all processes have."""

    def __init__(self, crew: Sequence[WorkerProcess], see: Callable[[Sequence[Bucket]], bool]) -> None:
        self._crew = crew
        self._see = see
        self._rows: list[list[Bucket]] = [[] for _ in crew]
        self._tallies: dict[int, Tally] = {}
        self._last_said = [perf_counter()] * len(crew)
        self._told = 0
        self._ending = False

    def tally(self) -> Tally:
        """All of them together, once each has ended its part."""
        while len(self._tallies) < len(self._crew):
            self._take()
            if self._see(self._new()) and not self._ending:
                self._ending = True
                for number, worker in enumerate(self._crew):
                    if number not in self._tallies:
                        worker.send(Enough())
        return merged([self._tallies[number] for number in range(len(self._crew))])

    def _take(self) -> None:
        waiting = {
            worker.pipe: number for number, worker in enumerate(self._crew) if number not in self._tallies
        }
        now = perf_counter()
        for pipe in wait(list(waiting), timeout=_TICK_SECONDS):
            assert isinstance(pipe, Connection)
            number = waiting[pipe]
            self._last_said[number] = now
            said = self._crew[number].receive(_SILENT_SECONDS)
            if isinstance(said, Tally):
                self._tallies[number] = said
            elif isinstance(said, tuple):
                self._rows[number].extend(said)
        if any(now - self._last_said[number] > _SILENT_SECONDS for number in waiting.values()):
            raise ClientDied(f"a client process has said nothing for {_SILENT_SECONDS:.0f} s")

    def _new(self) -> list[Bucket]:
        """Buckets that no process can change any more, and that were not handed on yet."""
        open_rows = [row for number, row in enumerate(self._rows) if number not in self._tallies]
        complete = min((len(row) for row in open_rows), default=self._told)
        first, self._told = self._told, max(self._told, complete)
        return [row_sum(self._rows, index) for index in range(first, self._told)]
