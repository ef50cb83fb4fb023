"""Multi: further knobs around the scout's winner, by a sampler's proposals."""

import math
from dataclasses import replace

from autotune.model.because import Because
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome, Purpose
from autotune.model.move import Finish, Launch, Move, VerdictCode
from autotune.model.proposal import Knob, Proposals, Tried
from autotune.model.settings import Settings
from autotune.search.evidence import evidence_of, reading_move
from autotune.search.knobs import knobs_around, ruled_out, settings_with, values_of
from autotune.search.limits import judged
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.search.strategy import Strategy
from autotune.statistics.compare import mean_reading

MOST_QUESTIONS = 25
"""Proposals in a row that were run before or are ruled out, after which nothing new is expected."""
SCOUT_SHARE = 2.0 / 3.0
"""Of the launches, that the scout may take; the others are for the further knobs."""
PRIOR_SPREAD = 0.03
"""Standard deviation of what further knobs change, a fraction: one high reading is not believed whole."""
_NORMAL_95 = 1.96


class Multi:
    """The scout first, with its share of the launches; all others try the sampler's next proposal.

    Nothing is run twice, and what needs at least as much memory as a start that failed for it is passed
    over. The winner is the one with the highest reading, each drawn towards the scout's winner by how
    unsure it is.
    """

    def __init__(self, scout: Strategy, space: Space, options: Options, proposals: Proposals) -> None:
        self._scout = scout
        self._space = space
        self._options = options
        self._proposals = proposals

    def next_move(self, history: History) -> Move:
        """The scout's move until it ends, then proposals, then the best of all."""
        own = self._own_launches(history)
        before = len(history.launches) - len(own)
        move = self._scout.next_move(self._as_the_scout_saw(history, before))
        if not isinstance(move, Finish) or move.settings is None:
            return move
        level = reading_move(
            history, self._space.concurrency, self._options.final_half_width, reason="read this setting"
        )
        if level is not None:
            return level
        seen = judged(history, self._options.limits, self._space.concurrency)
        settings = self._proposed(seen, move.settings) if history.budget.launches > 0 else None
        if settings is None:
            return self._best(seen, move, own)
        return Launch(
            settings=settings,
            purpose=Purpose.CANDIDATE,
            reason="the sampler's proposal of further knobs",
            because=Because.PROPOSED,
        )

    def _own_launches(self, history: History) -> tuple[LaunchRecord, ...]:
        """From the first candidate on that is none of the scout's."""
        for index, launch in enumerate(history.launches):
            foreign = launch.settings != self._space.settings_for(launch.settings.max_batch_size)
            if launch.purpose is Purpose.CANDIDATE and foreign:
                return history.launches[index:]
        return ()

    def _as_the_scout_saw(self, history: History, count: int) -> History:
        """Its own launches, all of them ended once others came after, and its share of the budget."""
        launches = history.launches[:count]
        later = len(history.launches) - count
        if later:
            launches = tuple(
                replace(each, outcome=Outcome.ENDED) if each.outcome is Outcome.PENDING else each
                for each in launches
            )
        total = history.budget.launches + len(history.launches)
        share = math.ceil(SCOUT_SHARE * total) - count
        left = max(0, min(share, history.budget.launches + later))
        return History(launches=launches, budget=BudgetLeft(launches=left))

    def _proposed(self, history: History, winner: Settings) -> Settings | None:
        """The first proposal that is new and not ruled out; None when there seems to be none."""
        knobs = knobs_around(winner, self._space, self._options.knobs)
        tried = tuple(self._tried(launch, knobs) for launch in history.launches if _is_told(launch))
        known = {launch.settings for launch in history.launches}
        first = len(history.launches) * MOST_QUESTIONS
        for number in range(first, first + MOST_QUESTIONS):
            values = self._proposals.propose(knobs, tried, seed=self._options.seed, number=number)
            settings = settings_with(winner, values, self._space)
            own = settings != self._space.settings_for(settings.max_batch_size)
            if own and settings not in known and not ruled_out(settings, history):
                return settings
        return None

    def _tried(self, launch: LaunchRecord, knobs: tuple[Knob, ...]) -> Tried:
        level = launch.last
        failed = launch.outcome is Outcome.FAILED or level is None
        return Tried(
            values=values_of(launch.settings, knobs),
            tokens_per_second=0.0 if failed or level is None else level.tokens_per_second,
            violation=1.0 if failed else 0.0,
        )

    def _best(self, history: History, found: Finish, own: tuple[LaunchRecord, ...]) -> Finish:
        """The scout's winner, unless a proposal reads higher even when drawn towards it."""
        assert found.settings is not None
        base = self._speed(history, found.settings)
        if base is None or not own:
            return found
        best, highest = found.settings, base
        for settings in dict.fromkeys(launch.settings for launch in own):
            speed = self._speed(history, settings, around=base)
            if speed is not None and speed > highest:
                best, highest = settings, speed
        because = Because.BUDGET_USED if history.budget.launches <= 0 else Because.NOTHING_LEFT
        reason = (
            "the budget is used" if because is Because.BUDGET_USED else "the sampler proposes nothing new"
        )
        return Finish(settings=best, code=VerdictCode.IMPROVED, reason=reason, because=because)

    def _speed(self, history: History, settings: Settings, around: float | None = None) -> float | None:
        evidence = evidence_of(history, settings, self._space.concurrency)
        if not evidence.usable:
            return None
        mean = mean_reading(evidence.readings)
        if around is None:
            return mean.tokens_per_second
        error = mean.half_width / _NORMAL_95
        weight = PRIOR_SPREAD**2 / (PRIOR_SPREAD**2 + error**2)
        return around + weight * (mean.tokens_per_second - around)


def _is_told(launch: LaunchRecord) -> bool:
    """A restart that was read or failed; a sweep under a high limit is no trial of its settings."""
    known = launch.last is not None or launch.outcome is Outcome.FAILED
    return known and launch.purpose is not Purpose.SCOUT
