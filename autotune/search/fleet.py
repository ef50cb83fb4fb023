"""Shared: any strategy for several hosts that measure at the same time."""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from autotune.errors import LaunchCause
from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Measurement
from autotune.model.move import Finish, Launch, Move, Wait
from autotune.search.evidence import reading_of
from autotune.search.hosts import corrected, host_differences
from autotune.search.space import Space
from autotune.search.strategy import Strategy
from autotune.statistics.compare import LaunchReading

_USUAL_HALF_WIDTH = 0.01


class Shared:
    """Asks the strategy what to do while other launches go on; the same launch is never run twice.

    What runs elsewhere is first left out; when the strategy then wants just that, it is asked again as if
    it had ended with a middling reading, as wide as such readings are, so that hosts work ahead. The fresh
    launches of a confirmation are alike by intent: as many as the evidence will need run side by side. A
    host that would have to wait measures the incumbent, once, so that hosts can be compared: readings of
    one that is surely faster or slower are corrected. A start that failed for memory on one host bounds all.
    """

    def __init__(self, inner: Strategy, space: Space, host: str) -> None:
        self._inner = inner
        self._space = space
        self._host = host

    def next_move(self, history: History) -> Move:
        """A launch for this host, a wait for another one's, or the end."""
        pending = [launch for launch in history.launches if launch.outcome is Outcome.PENDING]
        final = self.view([launch for launch in history.launches if launch.outcome is not Outcome.PENDING])
        move = self._inner.next_move(replace(history, launches=final))
        if not pending or (isinstance(move, Launch) and not _is_taken(move, pending)):
            return move
        if isinstance(move, Finish):
            return Wait()
        return self._ahead(history, pending, final) or self._own_incumbent(history) or Wait()

    def _ahead(
        self, history: History, pending: Sequence[LaunchRecord], final: tuple[LaunchRecord, ...]
    ) -> Launch | None:
        """What the strategy will want next, unless a sweep is going on, which nothing can stand for."""
        if any(launch.purpose is Purpose.SCOUT for launch in pending):
            return None
        guessed = tuple(self._guess(launch, final) for launch in pending)
        move = self._inner.next_move(replace(history, launches=(*final, *guessed)))
        if not isinstance(move, Launch):
            return None
        one_more = move.purpose is Purpose.CONFIRMATION
        return move if one_more or not _is_taken(move, pending) else None

    def view(self, launches: Sequence[LaunchRecord]) -> tuple[LaunchRecord, ...]:
        """Ended launches as the strategy sees them."""
        differences = host_differences(launches, concurrency=self._space.concurrency)
        return _bounding_all(corrected(launches, differences))

    def _own_incumbent(self, history: History) -> Launch | None:
        incumbent = self._space.incumbent
        launches = history.launches
        tried = (each.purpose is Purpose.INCUMBENT and each.host == self._host for each in launches)
        ending = any(each.purpose is Purpose.CONFIRMATION for each in launches)
        if incumbent is None or history.budget.launches <= 0 or ending or any(tried):
            return None
        return Launch(settings=incumbent, purpose=Purpose.INCUMBENT, reason=f"how fast {self._host} is")

    def _guess(self, launch: LaunchRecord, final: Sequence[LaunchRecord]) -> LaunchRecord:
        """As if it had ended: with the mean of its setting's readings, or of all."""
        same = self._readings([each for each in final if each.settings == launch.settings])
        speed, half_width = _middling(same or self._readings(final))
        level = Measurement(
            concurrency=self._space.concurrency,
            tokens_per_second=speed,
            half_width=half_width,
            whole_run_tokens_per_second=speed,
            seconds=0.0,
            requests=0,
            completed=0,
            assumed_noise=True,
        )
        return replace(launch, outcome=Outcome.ENDED, levels=(level,))

    def _readings(self, launches: Sequence[LaunchRecord]) -> list[LaunchReading]:
        found = (reading_of(launch, self._space.concurrency) for launch in launches)
        return [reading for reading in found if reading is not None]


def _middling(readings: Sequence[LaunchReading]) -> tuple[float, float]:
    """Tokens a second and half-width (a fraction) of a reading like these."""
    if not readings:
        return 1.0, _USUAL_HALF_WIDTH
    logs = [math.log(reading.tokens_per_second) for reading in readings]
    return math.exp(math.fsum(logs) / len(logs)), median(reading.half_width for reading in readings)


def _is_taken(move: Launch, pending: Sequence[LaunchRecord]) -> bool:
    """The same launch goes on elsewhere now."""
    return any((each.settings, each.purpose) == (move.settings, move.purpose) for each in pending)


def _bounding_all(launches: Sequence[LaunchRecord]) -> tuple[LaunchRecord, ...]:
    """A failure for memory counts twice, so that no other host tries the same or more."""
    seen: list[LaunchRecord] = []
    for launch in launches:
        lacked = launch.outcome is Outcome.FAILED and launch.cause is LaunchCause.MEMORY
        seen += [launch, launch] if lacked else [launch]
    return tuple(seen)
