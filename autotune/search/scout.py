"""Scout: one sweep shows the curve, a few restarts prove where its top is."""

import math
from dataclasses import replace

from autotune.model.because import Because
from autotune.model.bracket import Bracket
from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Measurement
from autotune.model.move import Finish, Launch, Measure, Move, VerdictCode
from autotune.search.candidates import candidate_sizes
from autotune.search.choice import Choice, choose
from autotune.search.evidence import (
    MOST_TRIES,
    died,
    evidence_of,
    first_blocks,
    memory_ceiling,
    no_reading,
    read_or_give_up,
)
from autotune.search.observations import Observations, observe
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.search.sweep import FAR_SECONDS, RESTLESS_SECONDS, next_level
from autotune.units import MILLISECONDS_PER_SECOND

MISSED = 0.06
"""The search ends when the chance that more than the margin is missed is below this."""
LEAST_PROMISE = 0.0006
"""Or when one more restart promises less than this."""
FEW = 2
MISSED_MUCH = 0.1
"""A chance to miss something above which the first few candidates are taken in any case."""
_TIE = 0.002
MOST_FOR_SMALLER = 6
"""Launches up to which a flat top is worth one more, at a much smaller size."""
_LOST = 0.02
"""A restart that is surely so much slower than the best is not read to the end."""
_WORDS = {
    Because.BUDGET_USED: "the budget is used",
    Because.LITTLE_MISSED: "little can be missed",
    Because.LITTLE_PROMISED: "one more restart promises too little",
    Because.NOTHING_LEFT: "nothing is left to try",
}
_MOST_SWEEPS = 3
_AGAIN = (1.5, 1.0)
"""Limits of the second and third sweep launch, over the start or what works: the peak may lie above it."""
_RESIDENCES = 1.0 / 40.0
"""A long level is so many times longer for each second that a request stays, where that is more than once."""
_NEAR = 1.6
"""Ratio to the best level up to which a level is near it."""


class Scout:
    """The incumbent is read; one launch near the top of the bracket is swept; then restarts.

    A belief over mechanistic curves (see `belief`) joins sweep and restarts. The next restart is the one
    that promises most for the final choice; the choice is made among restarted values by the belief's
    mean, not by the highest reading.
    """

    def __init__(self, space: Space, options: Options) -> None:
        self._space = space
        self._options = options

    def next_move(self, history: History) -> Move:
        """Sweep, restart or end."""
        first = read_or_give_up(
            history, self._space.concurrency, self._options.final_half_width, stop_below=self._bar(history)
        )
        if first is not None:
            return first
        bracket = self._space.bracket(first_blocks(history))
        swept = self._sweep(history, bracket)
        return swept if swept is not None else self._restart(history, bracket)

    def _bar(self, history: History) -> float | None:
        """Tokens a second below which a restart has surely lost against the best one so far.

        Under limits the fastest may be no rival, and requests must be counted: no bar.
        """
        if self._options.limits:
            return None
        rows = [row for row in observe(history, self._space).rows if not row.swept and not row.foreign]
        best = max((row.log_speed for row in rows), default=None)
        return None if best is None else math.exp(best) * (1.0 - _LOST)

    def _sweep(self, history: History, bracket: Bracket) -> Move | None:
        """The next level of the running sweep, or a launch to sweep in; None when that is over."""
        scouts = [launch for launch in history.launches if launch.purpose is Purpose.SCOUT]
        running = history.running
        if running is not None and running.purpose is Purpose.SCOUT:
            level = self._level(history, running, bracket)
            if level is not None:
                return level
        done = any(launch.measurements for launch in scouts)
        restarted = any(launch.purpose is Purpose.CANDIDATE for launch in history.launches)
        if done or restarted or len(scouts) >= _MOST_SWEEPS or history.budget.launches < MOST_TRIES:
            return None
        limit = self._limit(history, bracket, scouts)
        if limit is None:
            return None
        settings = self._space.settings_for(limit)
        return Launch(
            settings=settings,
            purpose=Purpose.SCOUT,
            reason="one start to sweep the concurrency in",
            because=Because.SWEEP,
        )

    def _limit(self, history: History, bracket: Bracket, scouts: list[LaunchRecord]) -> int | None:
        """Near the top of the bracket; after a failure above the start or what works; then only that."""
        incumbent = self._space.incumbent
        works = observe(history, self._space).works_at or bracket.start
        top = max(bracket.high, incumbent.max_batch_size if incumbent else 0)
        if not scouts:
            return self._space.nearest(top)
        last = scouts[-1].settings.max_batch_size
        safe = max(works, bracket.start)
        wished = [self._space.nearest(reach * safe) for reach in _AGAIN[len(scouts) - 1 :]]
        return next((size for size in wished if size < last), None)

    def _level(self, history: History, running: LaunchRecord, bracket: Bracket) -> Measure | None:
        invalid = len(running.levels) - len(running.measurements)
        if died(running) or invalid >= MOST_TRIES:
            return None
        rows = tuple(
            replace(row, size=row.concurrency)
            for row in observe(history, self._space).sweep
            if row.launch == running.number
        )
        limit = min(running.settings.max_batch_size, self._space.concurrency)
        level = next_level(rows, start=bracket.start, low=self._space.bounds_low, limit=limit)
        if level is None:
            return None
        restless = self._restless(history)
        peak = max(rows, key=lambda row: row.log_speed).size if rows else bracket.start
        near = peak / _NEAR <= level <= peak * _NEAR
        return Measure(
            concurrency=level,
            half_width=self._options.final_half_width if restless else self._options.scout_half_width,
            longest_seconds=_longest_seconds(restless, near=near) if restless else None,
            reason="a level of the sweep",
            because=Because.SWEEP_LEVEL,
        )

    def _restless(self, history: History) -> Measurement | None:
        """The incumbent's level, where it ended without the half-width that was wanted of it."""
        levels = [
            launch.last
            for launch in history.launches
            if launch.purpose is Purpose.INCUMBENT and launch.last is not None
        ]
        surest = min(levels, key=lambda level: level.half_width, default=None)
        return None if surest is None or surest.half_width <= self._options.final_half_width else surest

    def _restart(self, history: History, bracket: Bracket) -> Move:
        """The restart that promises most, or the end."""
        observations = observe(history, self._space)
        choice = self._choose(history, observations, bracket)
        over = self._over(history, choice)
        if over is None and choice.following is not None:
            move = self._candidate(choice.following, "the value that promises most", Because.PROMISES_MOST)
            return replace(move, expected=choice.expected)
        if choice.smaller is not None and self._worth_a_smaller(history):
            return self._candidate(
                choice.smaller, "the top is flat: a smaller batch may do", Because.SMALLER_MAY_DO
            )
        if choice.best is None:
            return no_reading("no restart gave a reading")
        because = over or Because.NOTHING_LEFT
        settings = self._space.settings_for(choice.best)
        return Finish(
            settings=settings,
            code=VerdictCode.IMPROVED,
            reason=_WORDS[because],
            because=because,
            gain=choice.gain,
        )

    def _candidate(self, size: int, reason: str, because: Because) -> Launch:
        settings = self._space.settings_for(size)
        return Launch(settings=settings, purpose=Purpose.CANDIDATE, reason=reason, because=because)

    def _worth_a_smaller(self, history: History) -> bool:
        """Once, while the search is short."""
        return history.budget.launches > 0 and len(history.launches) < MOST_FOR_SMALLER

    def _over(self, history: History, choice: Choice) -> Because | None:
        """Why the search is over, or None."""
        if history.budget.launches <= 0:
            return Because.BUDGET_USED
        candidates = sum(launch.purpose is Purpose.CANDIDATE for launch in history.launches)
        if choice.best is None or candidates < 1:
            return None
        if choice.missed < MISSED:
            return Because.LITTLE_MISSED
        if candidates < FEW and choice.missed > MISSED_MUCH:
            return None
        return Because.LITTLE_PROMISED if choice.promise < LEAST_PROMISE else None

    def _choose(self, history: History, observations: Observations, bracket: Bracket) -> Choice:
        from autotune.search.belief import believe
        from autotune.search.feasibility import feasibility

        seen = observations.restarted
        sizes = candidate_sizes(self._space, bracket, seen)
        ceiling = memory_ceiling(history)
        forbidden = frozenset(
            size
            for size in sizes
            if (ceiling is not None and size >= ceiling) or self._given_up(history, size)
        )
        posterior = believe(observations, sizes, bracket, self._options.seed)
        limits = self._options.limits
        feasible = (
            feasibility(
                history, self._space, limits, sizes, draws=len(posterior.draws), seed=self._options.seed
            )
            if limits
            else None
        )
        return choose(
            posterior,
            observations,
            margin=self._options.margin,
            tie=_TIE,
            forbidden=forbidden,
            feasible=feasible,
            against=self._comparable(),
        )

    def _comparable(self) -> int | None:
        """The incumbent's size, where it differs from a candidate of that size in nothing."""
        incumbent = self._space.incumbent
        if incumbent is None or self._space.settings_for(incumbent.max_batch_size) != incumbent:
            return None
        return incumbent.max_batch_size

    def _given_up(self, history: History, size: int) -> bool:
        launched = any(
            launch.settings.max_batch_size == size and launch.outcome is not Outcome.PENDING
            for launch in history.launches
        )
        if not launched:
            return False
        return evidence_of(history, self._space.settings_for(size), self._space.concurrency).given_up


def _longest_seconds(incumbent: Measurement, *, near: bool) -> float:
    """Of a level of a restless service, longer where requests stay long: it settles for two such times."""
    whole, first = incumbent.e2e_ms.mean, incumbent.ttft_ms.mean
    stay = 0.0 if whole is None or first is None else (whole - first) / MILLISECONDS_PER_SECOND
    return (RESTLESS_SECONDS if near else FAR_SECONDS) * max(1.0, _RESIDENCES * stay)
