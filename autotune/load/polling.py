"""Polling: asks the service beside the load, in a thread of its own, how it is and what it runs."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from autotune.errors import AutotuneError, LaunchFailed
from autotune.model.protocols import Service
from autotune.model.service import Counters

if TYPE_CHECKING:
    from typing_extensions import Self

POLL_SECONDS = 2.0
"""Of the host's clock, between two looks at the counters: seldom enough to cost nothing."""
LEAST_SECONDS = 0.2
"""The same beside a stand-in that runs faster than what it stands for, at most."""
ALIVE_SECONDS = 0.25
"""Between two looks whether it is still there, which ask nobody."""


def poll_seconds(time_scale: float) -> float:
    """Seconds of the host's clock between two looks at a service that runs so many times faster."""
    return min(POLL_SECONDS, max(LEAST_SECONDS, POLL_SECONDS / time_scale))


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """What the service said at one moment of the host's clock."""

    at: float
    counters: Counters


class Polling:
    """A context: inside it the service is asked every now and then."""

    def __init__(self, service: Service, *, period: float = POLL_SECONDS) -> None:
        self._service = service
        self._period = period
        self._quit = threading.Event()
        self._thread = threading.Thread(target=self._ask_until_quit, name="service polling", daemon=True)
        self.samples: list[Sample] = []
        self.gone: str | None = None

    def __enter__(self) -> Self:
        self._ask()
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._quit.set()
        self._thread.join()
        if self.gone is None:
            self._ask()

    def why_gone(self) -> str | None:
        """The reason when the service has died."""
        return self.gone

    def preemptions(self) -> int | None:
        """From the first sample to the last."""
        counts = [one.counters.preemptions for one in self.samples if one.counters.preemptions is not None]
        return counts[-1] - counts[0] if len(counts) > 1 else None

    def running_mean(self, seconds: float) -> float | None:
        """Mean of what the scheduler ran in the last `seconds` of the host's clock.

        The first sample was taken before the load and the last one after it.
        """
        since = perf_counter() - seconds
        counts = [
            one.counters.running
            for one in self.samples[1:-1]
            if one.counters.running is not None and one.at >= since
        ]
        return sum(counts) / len(counts) if counts else None

    def foreign(self, in_flight: int) -> float | None:
        """Requests in the service beyond ours: the median of the samples within the test."""
        extra = sorted(
            one.counters.running + one.counters.waiting - in_flight
            for one in self.samples[1:]
            if one.counters.running is not None and one.counters.waiting is not None
        )
        return extra[len(extra) // 2] if extra else None

    def _ask_until_quit(self) -> None:
        next_ask = perf_counter() + self._period
        while not self._quit.wait(min(ALIVE_SECONDS, self._period)) and self.gone is None:
            if perf_counter() < next_ask:
                self._look()
                continue
            next_ask = perf_counter() + self._period
            self._ask()

    def _look(self) -> None:
        try:
            self._service.check()
        except LaunchFailed as error:
            self.gone = error.message

    def _ask(self) -> None:
        self._look()
        try:
            counters = self._service.counters() if self.gone is None else None
        except AutotuneError:
            return
        if counters is not None:
            self.samples.append(Sample(at=perf_counter(), counters=counters))
