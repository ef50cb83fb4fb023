"""Night: a few launches prove that the setting still holds; more only where something points at a change.

1. The incumbent twice, against its own earlier nights; six times when the first two look odd.
2. One launch beside it on either side, against what is known of these; a second one when it looks good.
3. Only when one of these is not as it was, when the KV blocks moved or the incumbent does not run: a wider
   search, which sees all of this, and then a sequential test of its winner against the incumbent, in
   fresh launches by turns.
"""

from dataclasses import dataclass

from autotune.model.launch import BudgetLeft, History, LaunchRecord, Purpose
from autotune.model.move import Finish, Launch, Measure, Move, VerdictCode
from autotune.model.settings import Settings
from autotune.search.evidence import Evidence, gather, reading_move
from autotune.search.limits import judged
from autotune.search.night_memory import SURE, Memory, completed, judge
from autotune.search.options import Options
from autotune.search.probes import probe_sizes
from autotune.search.scout import Scout
from autotune.search.space import Space
from autotune.statistics.compare import Spread
from autotune.statistics.drift import Departure, Night, mean_log
from autotune.statistics.sequential import Answer, weigh
from autotune.statistics.sequential import Evidence as Weighed

FIRST_LAUNCHES, ALL_LAUNCHES = 2, 6
"""Of the incumbent: always, and when the first ones look odd."""
ODD = 0.9
"""Confidence with which the first launches look odd, two-sided."""
SUSPICIOUS = 0.95
"""With all launches: enough to search wider, not to tell of a drift."""
PROMISING, SHOWN = 0.8, 0.95
"""The same for the first and for both looks at a neighbour."""
KNOWN_NIGHTS = 3
"""Earlier nights from which on a neighbour is held against itself and not against the incumbent."""
BLOCKS_MOVED = 0.03
WIDE_LAUNCHES = 10
"""Most launches of the wider search."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What the opening of a night shows."""

    incumbent: Evidence
    departure: Departure | None
    """Of the incumbent from its earlier nights."""
    settled: bool
    """All launches of the incumbent that were wanted are there."""
    suspicious: bool
    """All of them together still look odd, surely or not."""
    blocks: int | None
    blocks_moved: bool
    neighbour: int | None
    """Size beside the incumbent that is faster than it should be."""

    @property
    def changed(self) -> bool:
        """Something is not as it was."""
        failed = self.incumbent.given_up and not self.incumbent.usable
        return self.suspicious or self.blocks_moved or failed or self.neighbour is not None


class NightStrategy:
    """One night's choices: a pure function of its launches and of what earlier nights said."""

    def __init__(self, space: Space, options: Options, memory: Memory) -> None:
        assert space.incumbent is not None, "a night is about the service as found"
        self._space = space
        self._options = options
        self._memory = memory
        self._incumbent = space.incumbent
        self._scout = Scout(space, options)

    def next_move(self, history: History) -> Move:
        """What to do next; the budget ends every stage early, and the incumbent then stays."""
        plain, history = history, judged(history, self._options.limits, self._space.concurrency)
        level = self._level(history)
        if level is not None:
            return level
        findings = self.findings(history)
        opening = self._opening(history, findings)
        if opening is not None:
            return opening
        if not findings.changed:
            return self._keep("as fast as on earlier nights, and nothing beside it gained")
        found = self._scout.next_move(self._wide_view(plain))
        return found if not isinstance(found, Finish) else self._confirm(history, findings, found)

    def findings(self, history: History) -> Findings:
        """What the opening shows so far."""
        incumbent = self._incumbent_evidence(history)
        spread = self._memory.spread((incumbent.readings,))  # nothing that comes later moves a finding
        readings = incumbent.readings
        nights = self._memory.of(self._incumbent)
        first = judge(nights, readings[:FIRST_LAUNCHES], spread, ODD)
        odd = first is not None and first.outside
        final = judge(nights, readings, spread, SURE) if odd else first
        wanted = ALL_LAUNCHES if odd else FIRST_LAUNCHES
        settled = odd and len(readings) >= wanted
        lenient = judge(nights, readings, spread, SUSPICIOUS) if settled else None
        blocks = next((launch.blocks for launch in history.launches if launch.blocks), None)
        return Findings(
            incumbent=incumbent,
            departure=final if not odd or len(readings) >= wanted else None,
            settled=settled,
            suspicious=lenient is not None and lenient.outside,
            blocks=blocks,
            blocks_moved=self._moved(blocks),
            neighbour=self._neighbour(history, incumbent, spread),
        )

    def weighed(self, history: History, candidate: Settings) -> Weighed | None:
        """The confirmation of a candidate as it stands; None before both sides have a reading."""
        ours = self._incumbent_evidence(history).readings
        ours += self._confirmations(history, self._incumbent).readings
        theirs = self._confirmations(history, candidate).readings
        return weigh(ours, theirs, spread=self._spread(history)) if ours and theirs else None

    def _level(self, history: History) -> Measure | None:
        reason = "read this setting"
        return reading_move(history, self._space.concurrency, self._options.final_half_width, reason=reason)

    def _opening(self, history: History, findings: Findings) -> Move | None:
        """Incumbent and neighbours; None once they are read, or once there is something to act on."""
        if _over(history) or _wide_begun(history):
            return None
        ours = findings.incumbent
        odd = findings.departure is None and len(ours.readings) >= FIRST_LAUNCHES
        odd = odd and bool(self._memory.of(self._incumbent))
        wanted = ALL_LAUNCHES if odd else FIRST_LAUNCHES
        if len(ours.readings) < wanted and not ours.given_up:
            return Launch(settings=self._incumbent, purpose=Purpose.INCUMBENT, reason="does it still hold?")
        if findings.changed:
            return None
        probe = self._unread_probe(history)
        return None if probe is None else self._probe(probe, "is it better beside it?")

    def _unread_probe(self, history: History) -> int | None:
        ours = self._incumbent_evidence(history)
        spread = self._memory.spread((ours.readings,))
        for size in self._probes():
            looks = self._looks(history, size)
            if looks.given_up:
                continue
            if not looks.readings:
                return size
            if len(looks.readings) == 1 and self._looks_good(size, looks.readings, ours, spread, PROMISING):
                return size
        return None

    def _neighbour(self, history: History, ours: Evidence, spread: Spread) -> int | None:
        if not ours.readings:
            return None
        for size in self._probes():
            looks = self._looks(history, size).readings[:2]
            both = len(looks) > 1 and self._looks_good(size, looks[:1], ours, spread, PROMISING)
            if both and self._looks_good(size, looks, ours, spread, SHOWN):
                return size
        return None

    def _looks_good(self, size: int, looks: Night, ours: Evidence, spread: Spread, confidence: float) -> bool:
        """Faster than on its earlier nights; before there are enough of them, faster than the incumbent."""
        nights = self._memory.of(completed(self._space.settings_for(size), self._incumbent))
        if len(nights) < KNOWN_NIGHTS:
            least = 0.0 if len(looks) == 1 else self._options.least_gain
            return bool(ours.readings) and mean_log(looks) - mean_log(ours.readings[:2]) > least
        departed = judge(nights, looks, spread, confidence)
        return departed is not None and departed.faster

    def _confirm(self, history: History, findings: Findings, found: Finish) -> Move:
        if found.settings is None or found.settings == self._incumbent:
            return self._without_candidate(findings, found)
        candidate = found.settings
        theirs = self._confirmations(history, candidate)
        if theirs.given_up or theirs.memory_failures:
            return self._keep("the better setting did not come up again")
        if not findings.incumbent.readings:
            return self._alone(history, candidate, theirs)
        if not theirs.readings and not self._promises(history, findings, candidate):
            return self._keep(f"{found.reason}; no setting promises a gain")
        return self._answered(history, found, candidate) or self._turn(history, findings, candidate)

    def _answered(self, history: History, found: Finish, candidate: Settings) -> Finish | None:
        """The end of the confirmation, once the evidence or the night says so."""
        weighed = self.weighed(history, candidate)
        answer = Answer.OPEN if weighed is None else weighed.answer
        if answer is Answer.FASTER:
            return Finish(settings=candidate, code=VerdictCode.IMPROVED, reason=found.reason)
        if answer is Answer.NOT_FASTER:
            return self._keep(f"{found.reason}; the gain was not confirmed")
        if _over(history):
            return self._keep(f"{found.reason}; the night ended before the gain was confirmed")
        return None

    def _turn(self, history: History, findings: Findings, candidate: Settings) -> Launch:
        """A launch of the side that has fewer."""
        theirs = self._confirmations(history, candidate)
        ours = self._confirmations(history, self._incumbent)
        fewer = len(findings.incumbent.readings) + len(ours.readings) < len(theirs.readings)
        turn = self._incumbent if fewer and not ours.given_up else candidate
        return Launch(settings=turn, purpose=Purpose.CONFIRMATION, reason="confirm the gain by turns")

    def _promises(self, history: History, findings: Findings, candidate: Settings) -> bool:
        looked = [launch for launch in history.launches if launch.purpose is Purpose.CANDIDATE]
        readings = self._gathered(looked, candidate).readings
        if not readings:
            return True
        return mean_log(readings) - mean_log(findings.incumbent.readings) > self._options.least_gain

    def _without_candidate(self, findings: Findings, found: Finish) -> Finish:
        if findings.incumbent.usable:
            return self._keep(f"{found.reason}; nothing is better")
        if found.settings is None:
            return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason=found.reason)
        return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason="the service as found fails")

    def _alone(self, history: History, candidate: Settings, theirs: Evidence) -> Move:
        """The incumbent does not run: the candidate must only come up once more."""
        if theirs.readings:
            reason = "the service as found gave no reading that counts"
            return Finish(settings=candidate, code=VerdictCode.IMPROVED, reason=reason)
        if _over(history):
            return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason="the night ended")
        return Launch(settings=candidate, purpose=Purpose.CONFIRMATION, reason="does it come up once more?")

    def _keep(self, reason: str) -> Finish:
        return Finish(settings=self._incumbent, code=VerdictCode.INCUMBENT_BEST, reason=reason)

    def _probe(self, size: int, reason: str) -> Launch:
        return Launch(settings=self._space.settings_for(size), purpose=Purpose.CANDIDATE, reason=reason)

    def _probes(self) -> tuple[int, ...]:
        return probe_sizes(self._space, self._incumbent, self._memory)

    def _incumbent_evidence(self, history: History) -> Evidence:
        return gather(
            (each for each in history.launches if each.purpose is Purpose.INCUMBENT), self._space.concurrency
        )

    def _looks(self, history: History, size: int) -> Evidence:
        looked = [launch for launch in history.launches if launch.purpose is Purpose.CANDIDATE]
        return self._gathered(looked, self._space.settings_for(size))

    def _confirmations(self, history: History, settings: Settings) -> Evidence:
        fresh = [launch for launch in history.launches if launch.purpose is Purpose.CONFIRMATION]
        return self._gathered(fresh, settings)

    def _gathered(self, launches: list[LaunchRecord], settings: Settings) -> Evidence:
        return gather((each for each in launches if each.settings == settings), self._space.concurrency)

    def _moved(self, blocks: int | None) -> bool:
        usual = self._memory.blocks
        return blocks is not None and usual is not None and abs(blocks - usual) > BLOCKS_MOVED * usual

    def _spread(self, history: History) -> Spread:
        """From earlier nights, and from what was launched more than once tonight."""
        groups: dict[Settings, Night] = {}
        for launch in history.launches:
            readings = gather((launch,), self._space.concurrency).readings
            groups[launch.settings] = groups.get(launch.settings, ()) + readings
        return self._memory.spread(groups.values())

    def _wide_view(self, history: History) -> History:
        """What the wider search sees: the opening too, no confirmation, and a budget of its own."""
        own = tuple(each for each in history.launches if each.purpose is not Purpose.CONFIRMATION)
        confirming = len(own) < len(history.launches)
        used = sum(each.purpose in {Purpose.SCOUT, Purpose.CANDIDATE} for each in own)
        left = 0 if confirming or _over(history) else min(WIDE_LAUNCHES - used, history.budget.launches)
        return History(launches=own, budget=BudgetLeft(launches=max(0, left)))


def _wide_begun(history: History) -> bool:
    return any(launch.purpose in {Purpose.SCOUT, Purpose.CONFIRMATION} for launch in history.launches)


def _over(history: History) -> bool:
    """No launch is left, or not the time for another as long as the longest so far."""
    longest = max((launch.seconds.total for launch in history.launches), default=0.0)
    return history.budget.launches <= 0 or history.budget.seconds <= longest
