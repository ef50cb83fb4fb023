"""The vendor's procedure: from the bracket's start upward in steps until throughput drops."""

from dataclasses import dataclass

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
from autotune.statistics.compare import compare

MOST_LAUNCHES_A_RUNG = 2
"""Launches of one setting that the drop test may ask for."""
_MOST_TIES = 2
"""Steps in a row without a difference that can be told: the curve is flat."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wanted:
    """A setting that needs one more launch before the walk can go on."""

    size: int
    reason: str
    because: Because = Because.NEXT_STEP


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """Where the walk ends."""

    size: int | None
    reason: str
    because: Because


class Guide:
    """Start at blocks / mean blocks of a request, go on to the next multiples of `step`.

    Differs from the vendor's procedure in one point: a drop is a drop only when the one-sided test says
    so. Readings that cannot be told apart are taken again, at most `MOST_LAUNCHES_A_RUNG` a setting;
    after that the smaller setting is kept and one step further is tried.
    """

    def __init__(self, space: Space, options: Options) -> None:
        self._space = space
        self._options = options

    def next_move(self, history: History) -> Move:
        """Walk the rungs with what is known; ask for the first thing that is missing."""
        first = read_or_give_up(history, self._space.concurrency, self._options.final_half_width)
        if first is not None:
            return first
        walk = self._walk(history)
        if isinstance(walk, _Wanted):
            if history.budget.launches > 0:
                settings = self._space.settings_for(walk.size)
                return Launch(
                    settings=settings, purpose=Purpose.CANDIDATE, reason=walk.reason, because=walk.because
                )
            best = self._best_so_far(history)
            walk = _Found(size=best, reason="the budget is used", because=Because.BUDGET_USED)
        if walk.size is None:
            return no_reading(walk.reason)
        settings = self._space.settings_for(walk.size)
        return Finish(settings=settings, code=VerdictCode.IMPROVED, reason=walk.reason, because=walk.because)

    def _evidence(self, history: History, size: int) -> Evidence:
        return evidence_of(history, self._space.settings_for(size), self._space.concurrency)

    def _walk(self, history: History) -> _Wanted | _Found:
        first = self._first_rung(history)
        if isinstance(first, _Wanted):
            return first
        if first is None:
            reason = "nothing at or below the start can be measured"
            return _Found(size=None, reason=reason, because=Because.NO_READING)
        best = size = first
        ties = 0
        while ties < _MOST_TIES:
            following = self._usable_rung(history, size)
            if isinstance(following, _Found):
                return _Found(size=best, reason=following.reason, because=following.because)
            size = following
            step = self._judge(history, best, size)
            if isinstance(step, _Wanted):
                return step
            if step < 0:
                return _Found(size=best, reason="throughput dropped", because=Because.DROPPED)
            best, ties = (size, 0) if step > 0 else (best, ties + 1)
        return _Found(size=best, reason="throughput stopped rising", because=Because.STOPPED_RISING)

    def _usable_rung(self, history: History, size: int) -> int | _Found:
        """The next rung up, or why there is none."""
        following = self._next_rung(size)
        if following is None:
            reason = "the upper bound is reached"
            return _Found(size=None, reason=reason, because=Because.UPPER_BOUND)
        ceiling = memory_ceiling(history)
        if (ceiling is not None and following >= ceiling) or self._evidence(history, following).given_up:
            reason = f"{following} cannot be measured"
            return _Found(size=None, reason=reason, because=Because.NEXT_FAILS)
        return following

    def _first_rung(self, history: History) -> int | _Wanted | None:
        """The start, or the next rung below it that can be measured."""
        size: int | None = self._start(history)
        while size is not None:
            evidence = self._evidence(history, size)
            if evidence.readings and evidence.usable:
                return size
            if not evidence.given_up:
                return _Wanted(size=size, reason="the bracket's start" if not evidence.fruitless else "again")
            size = self._rung_below(size)
        return None

    def _rung_below(self, size: int) -> int | None:
        """Next lower multiple of the step; below the first one, half."""
        lower = (size - 1) // self._options.step * self._options.step
        return self._space.at_most(lower or size // 2)

    def _start(self, history: History) -> int:
        """Fixed by the first candidate, so that blocks learned later do not move it."""
        candidates = [launch for launch in history.launches if launch.purpose is Purpose.CANDIDATE]
        if candidates:
            return candidates[0].settings.max_batch_size
        return self._space.bracket(first_blocks(history)).start

    def _next_rung(self, size: int) -> int | None:
        step = self._options.step
        following = self._space.at_least((size // step + 1) * step)
        if following is not None:
            return following
        last = self._space.at_most(self._space.highest)
        return last if last is not None and last > size else None

    def _judge(self, history: History, best: int, size: int) -> _Wanted | int:
        """1 for a rise from best to size, -1 for a drop, 0 when they cannot be told apart."""
        ours, theirs = self._evidence(history, best), self._evidence(history, size)
        if not theirs.readings:
            return _Wanted(size=size, reason="the next step up")
        result = compare(ours.readings, theirs.readings, confidence=self._options.confidence)
        if result.better or result.worse:
            return 1 if result.better else -1
        fewer, side = min((len(ours.readings), best), (len(theirs.readings), size))
        if fewer >= MOST_LAUNCHES_A_RUNG or history.budget.launches <= 0:
            return 0
        reason = f"{best} and {size} cannot be told apart yet"
        return _Wanted(size=side, reason=reason, because=Because.TOLD_APART)

    def _best_so_far(self, history: History) -> int | None:
        """The fastest usable candidate by its mean reading, when the walk cannot go on."""
        speeds: dict[int, float] = {}
        for launch in history.launches:
            size = _candidate_size(launch)
            evidence = self._evidence(history, size) if size is not None else Evidence()
            if size is not None and evidence.usable:
                values = [reading.tokens_per_second for reading in evidence.readings]
                speeds[size] = sum(values) / len(values)
        return max(speeds, key=lambda size: (speeds[size], -size), default=None)


def _candidate_size(launch: LaunchRecord) -> int | None:
    return launch.settings.max_batch_size if launch.purpose is Purpose.CANDIDATE else None
