"""Confirmation: around any strategy, the incumbent first and a fair second look at the winner last."""

import math
from dataclasses import dataclass, replace

from autotune.model.because import Because
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome, Purpose
from autotune.model.move import Finish, Launch, Measure, Move, VerdictCode
from autotune.model.settings import Settings
from autotune.search.evidence import Evidence, evidence_of, gather, reading_move
from autotune.search.informed import without_queue
from autotune.search.limits import any_read, judged, keeps, level_for_limits
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.search.strategy import Strategy
from autotune.statistics.compare import (
    SPREAD_FLOOR,
    Comparison,
    LaunchReading,
    Spread,
    compare,
    launch_spread,
    mean_reading,
)

WITHOUT_QUEUE_HALF_WIDTH = 0.05
"""Wanted of the level whose time to the first token is set for all candidates."""
MOST_A_SIDE = 4
"""Confirmation launches of incumbent and of candidate, each."""
_RESERVED = 5
"""Launches kept for a comparison at most."""
_ALONE = 2
"""Launches kept to start a winner once more where there is nothing to compare it with."""
RESERVE_SHARE = 0.42
"""Of the launches of the budget, to be kept for the confirmation: 5 of 12."""
EARLY_CONFIDENCE = 0.99
"""Of the looks before the last, so that looking again and again does not add up to false claims."""
LOW_ERRORS = 1.0
"""Standard errors below the fresh launches from which the first one counts as low."""
HOPELESS_CONFIDENCE = 0.75
"""With which a gain below the least gain ends the confirmation before its last look.

Here the candidate's readings of the search count too: one fresh launch that is off does not end it.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pair:
    """The two sides of a confirmation."""

    incumbent: Settings
    candidate: Settings


class Confirmed:
    """Measures the incumbent, lets the inner strategy search, then holds its winner against the incumbent.

    Only fresh launches count, incumbent and candidate by turns, at most `MOST_A_SIDE` each; the inner
    strategy sees none of them. The incumbent is replaced when the one-sided bound of the gain is above 0
    and the gain is at least `least_gain`.
    """

    def __init__(self, inner: Strategy, space: Space, options: Options) -> None:
        self._inner = inner
        self._space = space
        self._options = options

    def next_move(self, history: History) -> Move:
        """Open, search, confirm: whatever the history leaves to do next. Limits are judged first."""
        limits, concurrency = self._options.limits, self._space.concurrency
        open_limit = level_for_limits(history, limits, concurrency, self._options.final_half_width)
        if open_limit is not None and not _time_is_up(history):
            return open_limit
        move = self._next(history, judged(history, limits, concurrency))
        if isinstance(move, Finish) and move.settings is None and limits and any_read(history):
            return replace(
                move,
                code=VerdictCode.LIMIT_UNMET,
                reason="nothing that was measured surely keeps the limits",
                because=Because.LIMITS_UNMET,
            )
        fruitless = isinstance(move, Finish) and move.because is Because.NO_READING
        if (
            isinstance(move, Finish)
            and fruitless
            and limits
            and any_read(history, beside=self._space.incumbent)
        ):
            reason = "no other value keeps the limits"
            return replace(move, reason=reason, because=Because.LIMITS_UNMET)
        return move

    def _next(self, plain: History, history: History) -> Move:
        """`history` is judged by the limits; the inner strategy sees the `plain` one."""
        incumbent = self._space.incumbent
        opening = self._opening(history, incumbent) if incumbent is not None else None
        if opening is not None:
            return opening
        move = self._inner.next_move(self._inner_view(plain))
        if not isinstance(move, Finish) or move.settings is None or incumbent is None:
            return self._without_winner(history, move)
        if move.settings == incumbent:
            return replace(move, code=VerdictCode.INCUMBENT_BEST, because=Because.INCUMBENT_WON)
        return self._confirm(history, move, _Pair(incumbent=incumbent, candidate=move.settings))

    def _opening(self, history: History, incumbent: Settings) -> Move | None:
        """Launch and read the incumbent; None once that is done or given up."""
        running = history.running
        if running is not None and running.purpose is Purpose.INCUMBENT:
            level = self._alone_level(running) or self._level(
                history, "how fast the service is as found", Because.AS_FOUND
            )
            if level is not None:
                return level
        tried = [launch for launch in history.launches if launch.purpose is Purpose.INCUMBENT]
        evidence = gather(tried, self._space.concurrency)
        if evidence.readings or evidence.given_up or history.budget.launches <= 0 or _time_is_up(history):
            return None
        reason = "the service as found" if not tried else "the service as found, once more"
        return Launch(settings=incumbent, purpose=Purpose.INCUMBENT, reason=reason, because=Because.AS_FOUND)

    def _alone_level(self, running: LaunchRecord) -> Measure | None:
        """First of all a short level that nothing has to queue in, where candidates take times from it."""
        concurrency = min(running.settings.max_batch_size, self._space.concurrency)
        wanted = self._space.times_from_means and not running.levels and without_queue(running) is None
        if not wanted or concurrency >= self._space.concurrency:
            return None
        return Measure(
            concurrency=concurrency,
            half_width=WITHOUT_QUEUE_HALF_WIDTH,
            reason="the time to the first token without a queue",
            because=Because.WITHOUT_QUEUE,
        )

    def _level(self, history: History, reason: str, because: Because) -> Measure | None:
        return reading_move(
            history,
            self._space.concurrency,
            self._options.final_half_width,
            reason=reason,
            because=because,
        )

    def _inner_view(self, history: History) -> History:
        """What the inner strategy sees: no confirmation, and a budget without its reserve.

        Of the confirmation it sees only what does not keep the limits after all: then it looks on. For starts
        that failed, and so gave no reading, it has one launch of the reserve more.
        """
        own = tuple(
            replace(launch, purpose=Purpose.CANDIDATE) if self._broke(history, launch) else launch
            for launch in history.launches
            if launch.purpose is not Purpose.CONFIRMATION or self._broke(history, launch)
        )
        hidden = len(history.launches) - len(own)
        total = history.budget.launches + len(history.launches)
        failed = any(launch.outcome is Outcome.FAILED for launch in own)
        reserve = max(0, min(self._most_reserved(history) - failed, int(total * RESERVE_SHARE)))
        left = max(0, history.budget.launches + hidden - reserve)
        if not hidden and _time_is_up(history):
            left = 0
        return History(launches=own, budget=BudgetLeft(launches=left))

    def _broke(self, history: History, launch: LaunchRecord) -> bool:
        """A confirmation of a candidate which with it no longer surely keeps the limits."""
        if launch.purpose is not Purpose.CONFIRMATION or launch.settings == self._space.incumbent:
            return False
        limits, concurrency = self._options.limits, self._space.concurrency
        read = any(level.concurrency == concurrency for level in launch.measurements)
        return bool(limits) and read and not keeps(history, limits, launch.settings, concurrency)

    def _most_reserved(self, history: History) -> int:
        """Launches to keep for the confirmation: a comparison's, or one more start of the winner alone."""
        incumbent, concurrency = self._space.incumbent, self._space.concurrency
        if incumbent is None:
            return 0
        plain = judged(history, self._options.limits, concurrency)
        return _RESERVED if evidence_of(plain, incumbent, concurrency).readings else _ALONE

    def _without_winner(self, history: History, move: Move) -> Move:
        """The inner strategy goes on, or ended without a winner: then the incumbent stays."""
        incumbent = self._space.incumbent
        if not isinstance(move, Finish) or incumbent is None or move.settings is not None:
            return move
        if evidence_of(history, incumbent, self._space.concurrency).usable:
            return Finish(
                settings=incumbent,
                code=VerdictCode.INCUMBENT_BEST,
                reason=move.reason,
                because=move.because,
            )
        return move

    def _confirm(self, history: History, found: Finish, pair: _Pair) -> Move:
        launches = [launch for launch in history.launches if launch.purpose is Purpose.CONFIRMATION]
        level = self._level(history, "confirm the gain", Because.CONFIRM) if launches else None
        if level is not None:
            return level
        ours = self._incumbents_side(history, launches, pair.incumbent)
        theirs = self._side(launches, pair.candidate)
        ended = (
            self._not_worth_it(history, found, pair)
            if not launches
            else self._failed(history, found, pair, (ours, theirs))
            or self._look(history, found, pair, (ours, theirs))
        )
        if ended is not None:
            return ended
        if not evidence_of(history, pair.incumbent, self._space.concurrency).readings:
            return self._alone(history, found, pair, theirs)
        if history.budget.launches <= 0 or _time_is_up(history):
            return self._keep(
                pair,
                f"{found.reason}; the budget ended before the gain was confirmed",
                Because.BUDGET_BEFORE_CONFIRMED,
            )
        turn = pair.incumbent if len(ours.readings) <= len(theirs.readings) else pair.candidate
        if launches and not self._side(launches, pair.incumbent).readings:
            turn = pair.incumbent
        return Launch(
            settings=turn,
            purpose=Purpose.CONFIRMATION,
            reason="confirm the gain in a fresh launch",
            because=Because.CONFIRM,
        )

    def _failed(
        self, history: History, found: Finish, pair: _Pair, sides: tuple[Evidence, Evidence]
    ) -> Finish | None:
        """The incumbent stays, if it runs at all, when one of the two does not come up again."""
        ours, theirs = sides
        if theirs.given_up or theirs.memory_failures:
            reason = f"{found.reason}; the better setting did not come up again"
            if not evidence_of(history, pair.incumbent, self._space.concurrency).readings:
                return Finish(
                    settings=None,
                    code=VerdictCode.NOT_MEASURABLE,
                    reason=reason,
                    because=Because.WINNER_FAILED_AGAIN,
                )
            return self._keep(pair, reason, Because.WINNER_FAILED_AGAIN)
        if ours.given_up:
            reason = f"{found.reason}; the incumbent did not come up again to be compared"
            return self._keep(pair, reason, Because.INCUMBENT_FAILED_AGAIN)
        return None

    def _side(self, launches: list[LaunchRecord], settings: Settings) -> Evidence:
        return gather((each for each in launches if each.settings == settings), self._space.concurrency)

    def _incumbents_side(
        self, history: History, launches: list[LaunchRecord], incumbent: Settings
    ) -> Evidence:
        """Its fresh launches and, unless it reads low, the one before the search: nothing selected it.

        A first launch may be cold. One that reads low beside the fresh ones is left out, and only such a
        one, so that what is left never makes the incumbent look slower than it is.
        """
        fresh = self._side(launches, incumbent)
        opening = [launch for launch in history.launches if launch.purpose is Purpose.INCUMBENT]
        first = gather(opening, self._space.concurrency).readings[:1]
        if first and fresh.readings:
            mean = mean_reading(fresh.readings, spread=Spread())
            error = math.hypot(first[0].log_error, mean.log_error, SPREAD_FLOOR)
            if math.log(first[0].tokens_per_second / mean.tokens_per_second) < -LOW_ERRORS * error:
                first = ()
        return replace(fresh, readings=(*first, *fresh.readings))

    def _not_worth_it(self, history: History, found: Finish, pair: _Pair) -> Finish | None:
        """No confirmation when the search does not even promise the least gain.

        Neither the two settings' readings nor, where it says so, what it believes having seen more.
        """
        concurrency = self._space.concurrency
        ours = evidence_of(history, pair.incumbent, concurrency).readings
        theirs = evidence_of(history, pair.candidate, concurrency).readings
        if not ours or not theirs:
            return None
        result = compare(ours, theirs, confidence=self._options.confidence, spread=self._spread(history))
        if max(result.gain, found.gain or 0.0) >= self._options.least_gain:
            return None
        return self._equal_or_kept(
            found, pair, result, "no setting promises a gain", Because.NO_GAIN_PROMISED
        )

    def _look(
        self, history: History, found: Finish, pair: _Pair, sides: tuple[Evidence, Evidence]
    ) -> Finish | None:
        """The verdict once it is clear or nothing more may be launched; None to go on."""
        ours, theirs = sides[0].readings, sides[1].readings
        launches = [launch for launch in history.launches if launch.purpose is Purpose.CONFIRMATION]
        fresh = self._side(launches, pair.incumbent).readings
        if not ours or not theirs:
            return None
        full = len(fresh) >= MOST_A_SIDE and len(theirs) >= MOST_A_SIDE
        last = full or history.budget.launches <= 0 or _time_is_up(history)
        spread = self._spread(history)
        options = self._options
        confidence = options.confidence if last else max(EARLY_CONFIDENCE, options.confidence)
        strict = compare(ours, theirs, confidence=confidence, spread=spread)
        if fresh and strict.better and strict.gain >= options.least_gain:
            return replace(found, code=VerdictCode.IMPROVED, because=Because.GAIN_CONFIRMED)
        everything = evidence_of(history, pair.candidate, self._space.concurrency).readings
        hopeless = compare(ours, everything, confidence=HOPELESS_CONFIDENCE, spread=spread)
        if not last and hopeless.high >= options.least_gain:
            return None
        plain = compare(ours, theirs, confidence=options.confidence, spread=spread)
        return self._equal_or_kept(
            found, pair, plain, "the gain was not confirmed", Because.GAIN_NOT_CONFIRMED
        )

    def _equal_or_kept(
        self, found: Finish, pair: _Pair, result: Comparison, why: str, because: Because
    ) -> Finish:
        """The incumbent stays; a smaller setting that is as fast is named."""
        margin = self._options.margin
        smaller = pair.candidate.max_batch_size < pair.incumbent.max_batch_size
        if smaller and abs(result.gain) < margin and result.not_worse(2.0 * margin):
            reason = f"{found.reason}; as fast as the incumbent with a smaller batch"
            return Finish(
                settings=pair.candidate,
                code=VerdictCode.EQUAL_SMALLER,
                reason=reason,
                because=Because.AS_FAST_AND_SMALLER,
            )
        return self._keep(pair, f"{found.reason}; {why}", because)

    def _keep(self, pair: _Pair, reason: str, because: Because) -> Finish:
        return Finish(
            settings=pair.incumbent, code=VerdictCode.INCUMBENT_BEST, reason=reason, because=because
        )

    def _alone(self, history: History, found: Finish, pair: _Pair, theirs: Evidence) -> Move:
        """The incumbent does not run: the winner must only come up once more."""
        if theirs.readings or history.budget.launches <= 0 or _time_is_up(history):
            reason = f"{found.reason}; the service as found gave no reading that counts"
            return Finish(
                settings=pair.candidate,
                code=VerdictCode.IMPROVED,
                reason=reason,
                because=Because.INCUMBENT_UNREADABLE,
            )
        return Launch(
            settings=pair.candidate,
            purpose=Purpose.CONFIRMATION,
            reason="does it come up once more",
            because=Because.COMES_UP,
        )

    def _spread(self, history: History) -> Spread:
        """Launch-to-launch spread from everything that was launched more than once."""
        launches = [launch for launch in history.launches if launch.purpose is Purpose.CONFIRMATION]
        incumbent = self._space.incumbent
        groups: dict[Settings, list[LaunchReading]] = {}
        if incumbent is not None:
            groups[incumbent] = list(self._incumbents_side(history, launches, incumbent).readings)
        for launch in history.launches:
            if launch.settings == incumbent:
                continue
            groups.setdefault(launch.settings, []).extend(gather((launch,), self._space.concurrency).readings)
        return launch_spread(list(groups.values()))


def _time_is_up(history: History) -> bool:
    """The time that is left does not hold another launch as long as the longest so far."""
    longest = max((launch.seconds.total for launch in history.launches), default=0.0)
    return history.budget.seconds <= longest
