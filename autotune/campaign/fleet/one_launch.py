"""One launch: what an agent has claimed, as a strategy and a store for a run of that launch only."""

from dataclasses import replace

from autotune.campaign.fleet.patience import Patience
from autotune.model.campaign import Decision
from autotune.model.launch import History, LaunchRecord, Purpose
from autotune.model.measurement import Level
from autotune.model.move import Finish, Launch, Measure, Move, VerdictCode
from autotune.search.evidence import reading_move
from autotune.search.strategy import Strategy
from autotune.store.shared_study import LeaseLost, SharedStudy

_OVER = Finish(settings=None, code=VerdictCode.INTERRUPTED, reason="the launch is read")


class OneLaunch:
    """Launches once and reads it: a sweep as the inner strategy wants it, everything else by one level."""

    def __init__(
        self, claimed: LaunchRecord, inner: Strategy, *, before: int, concurrency: int, half_width: float
    ) -> None:
        self._claimed = claimed
        self._before = before
        self._inner = inner
        self._concurrency = concurrency
        self._half_width = half_width

    def next_move(self, history: History) -> Move:
        """The launch, its levels, the end."""
        running = history.running
        if running is None:
            return _OVER if len(history.launches) > self._before else self._launch()
        if running.purpose is not Purpose.SCOUT:
            reason = "read this setting"
            level = reading_move(history, self._concurrency, self._half_width, reason=reason)
            return level or _OVER
        move = self._inner.next_move(history)
        return move if isinstance(move, Measure) else _OVER

    def _launch(self) -> Launch:
        claimed = self._claimed
        return Launch(settings=claimed.settings, purpose=claimed.purpose, reason="claimed from the study")


class ClaimedStore:
    """Where a run of the claimed launch keeps it: in the shared study, under the number of the claim."""

    def __init__(self, study: SharedStudy, claimed: LaunchRecord, patience: Patience) -> None:
        self._study = study
        self._claimed = claimed
        self._patience = patience
        self.lost: LeaseLost | None = None
        """Set when the launch was given back meanwhile; its result is then not kept."""

    def launch_started(self, record: LaunchRecord) -> None:
        """It was created when it was claimed."""

    def level_ended(self, number: int, level: Level) -> None:
        """Nothing: all levels are written when the launch ends, so that a lost database costs no level."""

    def launch_ended(self, record: LaunchRecord) -> None:
        """Keep the final record, however long the database is away."""
        numbered = replace(record, number=self._claimed.number)
        try:
            self._patience(lambda: self._study.launch_ended(numbered))
        except LeaseLost as lost:
            self.lost = lost

    def decided(self, decision: Decision) -> None:
        """The decision was kept when the launch was claimed."""
