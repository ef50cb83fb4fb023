"""Scout: one sweep shows the curve, a few restarts prove where its top is."""

import math

from autotune.model.bracket import Bracket
from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.move import Finish, Launch, Measure, Move, VerdictCode
from autotune.search.candidates import candidate_sizes
from autotune.search.choice import Choice, choose
from autotune.search.evidence import (
    MOST_TRIES,
    died,
    evidence_of,
    first_blocks,
    hopeless,
    memory_ceiling,
    reading_move,
)
from autotune.search.observations import Observations, observe
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.search.sweep import next_level

MISSED = 0.1
"""The search ends when the chance that more than the margin is missed is below this."""
LEAST_PROMISE = 0.0014
"""Or when one more restart promises less than this."""
_TIE = 0.002
_LOST = 0.02
"""A restart that is surely so much slower than the best is not read to the end."""
_MOST_SWEEPS = 3
_LEVEL_WIDTH = 2.5
"""A sweep level is read to so many times the half-width that the incumbent could be read to."""


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
        level = reading_move(
            history,
            self._space.concurrency,
            self._options.final_half_width,
            reason="read this setting",
            stop_below=self._bar(history),
        )
        if level is not None:
            return level
        if hopeless(history, self._space.concurrency):
            return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason="no launch gave a reading")
        bracket = self._space.bracket(first_blocks(history))
        swept = self._sweep(history, bracket)
        return swept if swept is not None else self._restart(history, bracket)

    def _bar(self, history: History) -> float | None:
        """Tokens a second below which a restart has surely lost against the best one so far."""
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
            settings=settings, purpose=Purpose.SCOUT, reason="one start to sweep the concurrency in"
        )

    def _limit(self, history: History, bracket: Bracket, scouts: list[LaunchRecord]) -> int | None:
        """Near the top of the bracket; after a failure the start or what works already; then only that."""
        incumbent = self._space.incumbent
        works = observe(history, self._space).works_at or bracket.start
        top = max(bracket.high, incumbent.max_batch_size if incumbent else 0)
        if not scouts:
            return self._space.nearest(top)
        last = scouts[-1].settings.max_batch_size
        lower = self._space.nearest(max(works, bracket.start) if len(scouts) == 1 else works)
        return lower if lower < last else None

    def _level(self, history: History, running: LaunchRecord, bracket: Bracket) -> Measure | None:
        invalid = len(running.levels) - len(running.measurements)
        if died(running) or invalid >= MOST_TRIES:
            return None
        rows = tuple(row for row in observe(history, self._space).sweep if row.launch == running.number)
        limit = min(running.settings.max_batch_size, self._space.concurrency)
        level = next_level(rows, start=bracket.start, low=self._space.bounds_low, limit=limit)
        if level is None:
            return None
        widths = [
            launch.last.half_width
            for launch in history.launches
            if launch.purpose is Purpose.INCUMBENT and launch.last is not None
        ]
        width = max([self._options.scout_half_width, *(_LEVEL_WIDTH * each for each in widths)])
        return Measure(concurrency=level, half_width=width, reason="a level of the sweep")

    def _restart(self, history: History, bracket: Bracket) -> Move:
        """The restart that promises most, or the end."""
        observations = observe(history, self._space, self._options.limits)
        choice = self._choose(history, observations, bracket)
        reason = self._over(history, choice)
        if reason is None and choice.following is not None:
            settings = self._space.settings_for(choice.following)
            return Launch(
                settings=settings,
                purpose=Purpose.CANDIDATE,
                reason="the belief's best next restart",
                expected=choice.expected,
            )
        if choice.best is None:
            return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason="no restart gave a reading")
        settings = self._space.settings_for(choice.best)
        return Finish(settings=settings, code=VerdictCode.IMPROVED, reason=reason or "nothing is left to try")

    def _over(self, history: History, choice: Choice) -> str | None:
        """Why the search is over, or None."""
        if history.budget.launches <= 0:
            return "the budget is used"
        candidates = sum(launch.purpose is Purpose.CANDIDATE for launch in history.launches)
        if choice.best is None or candidates < 1:
            return None
        if choice.missed < MISSED:
            return "little can be missed"
        return "one more restart promises too little" if choice.promise < LEAST_PROMISE else None

    def _choose(self, history: History, observations: Observations, bracket: Bracket) -> Choice:
        from autotune.search.belief import believe

        seen = observations.restarted
        sizes = candidate_sizes(self._space, bracket, seen)
        ceiling = memory_ceiling(history)
        forbidden = frozenset(
            size
            for size in sizes
            if (ceiling is not None and size >= ceiling) or self._given_up(history, size)
        )
        posterior = believe(observations, sizes, bracket, self._options.seed)
        return choose(posterior, observations, margin=self._options.margin, tie=_TIE, forbidden=forbidden)

    def _given_up(self, history: History, size: int) -> bool:
        launched = any(
            launch.settings.max_batch_size == size and launch.outcome is not Outcome.PENDING
            for launch in history.launches
        )
        if not launched:
            return False
        return evidence_of(history, self._space.settings_for(size), self._space.concurrency).given_up
