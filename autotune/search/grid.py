"""Grid: every step of the bracket once, then the leaders again."""

from autotune.model.because import Because
from autotune.model.launch import History, LaunchRecord, Purpose
from autotune.model.move import Finish, Launch, Move, VerdictCode
from autotune.search.evidence import (
    Evidence,
    evidence_of,
    first_blocks,
    memory_ceiling,
    no_reading,
    read_or_give_up,
)
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.statistics.compare import compare, mean_reading

MOST_LAUNCHES_A_VALUE = 2


class Grid:
    """The multiples of `step` from the bracket's low to its high, thinned evenly to what the budget holds.

    What budget is left then goes to the leader and to what cannot be told apart from it.
    """

    def __init__(self, space: Space, options: Options) -> None:
        self._space = space
        self._options = options

    def next_move(self, history: History) -> Move:
        """The next value of the grid, the next repeat, or the leader."""
        first = read_or_give_up(history, self._space.concurrency, self._options.final_half_width)
        if first is not None:
            return first
        sizes = self._sizes(history)
        wanted = self._unread(history, sizes) or self._unsure(history, sizes)
        if wanted is not None and history.budget.launches > 0:
            settings = self._space.settings_for(wanted)
            return Launch(
                settings=settings,
                purpose=Purpose.CANDIDATE,
                reason="a value of the grid",
                because=Because.GRID_VALUE,
            )
        best = self._leader(history)
        if best is None:
            return no_reading("no value could be measured")
        reason = "the grid is read" if wanted is None else "the budget is used"
        because = Because.GRID_READ if wanted is None else Because.BUDGET_USED
        settings = self._space.settings_for(best)
        return Finish(settings=settings, code=VerdictCode.IMPROVED, reason=reason, because=because)

    def _sizes(self, history: History) -> tuple[int, ...]:
        """The grid; fixed by the first blocks that are known."""
        candidates = _candidates(history)
        before = (
            History(launches=history.launches[: history.launches.index(candidates[0])])
            if candidates
            else history
        )
        bracket = self._space.bracket(first_blocks(before))
        step = self._options.step
        steps = range(-(-bracket.low // step) * step, bracket.high + 1, step)
        found = sorted({self._space.nearest(size) for size in steps} or {bracket.start})
        room = max(1, history.budget.launches + len(candidates))
        if len(found) <= room:
            return tuple(found)
        if room == 1:
            return (bracket.start,)
        return tuple(found[index * (len(found) - 1) // (room - 1)] for index in range(room))

    def _evidence(self, history: History, size: int) -> Evidence:
        return evidence_of(history, self._space.settings_for(size), self._space.concurrency)

    def _unread(self, history: History, sizes: tuple[int, ...]) -> int | None:
        ceiling = memory_ceiling(history)
        for size in sizes:
            evidence = self._evidence(history, size)
            below = ceiling is None or size < ceiling
            if below and not evidence.readings and not evidence.given_up:
                return size
        return None

    def _unsure(self, history: History, sizes: tuple[int, ...]) -> int | None:
        """A leader, or a value that it cannot be told apart from, that was read only once."""
        best = self._leader(history)
        if best is None:
            return None
        ours = self._evidence(history, best)
        for size in (best, *sizes):
            theirs = self._evidence(history, size)
            open_still = theirs.usable and not compare(theirs.readings, ours.readings).better
            if open_still and not theirs.given_up and len(theirs.readings) < MOST_LAUNCHES_A_VALUE:
                return size
        return None

    def _leader(self, history: History) -> int | None:
        """The fastest by its mean reading; the smaller of two that are equal."""
        speeds = {}
        for size in sorted({launch.settings.max_batch_size for launch in _candidates(history)}):
            evidence = self._evidence(history, size)
            if evidence.usable:
                speeds[size] = mean_reading(evidence.readings).tokens_per_second
        return max(speeds, key=lambda size: (speeds[size], -size), default=None)


def _candidates(history: History) -> list[LaunchRecord]:
    return [launch for launch in history.launches if launch.purpose is Purpose.CANDIDATE]
