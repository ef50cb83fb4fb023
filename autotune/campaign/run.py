"""The loop of a campaign: ask the strategy, do what it says, keep what came of it."""

import math
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

from autotune.campaign.decisions import decision_of
from autotune.campaign.ending import Ending, ended
from autotune.campaign.forecast import remaining
from autotune.campaign.parts import Bounds, Parts
from autotune.errors import DeadlineReached, LaunchCause, LaunchFailed
from autotune.events import ForecastChanged, LaunchEnded, LaunchStarted, LevelEnded, Phase, PhaseChanged
from autotune.model.campaign import Campaign
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome, PhaseSeconds, Purpose
from autotune.model.measurement import Invalid, InvalidReason, Level
from autotune.model.move import Finish, Launch, Measure, Move, Wait
from autotune.model.protocols import LevelRequest, Service
from autotune.model.service import Blocks

_WAIT_SECONDS = 5.0
_GOING_SECONDS = 2.0
_DEADLY: Final = (InvalidReason.SERVICE_DIED, InvalidReason.STALLED)
"""What ends a launch, though its process may still be there."""


@dataclass(kw_only=True, slots=True)
class _Running:
    """The launch that is up now, with the stack that will take it down."""

    record: LaunchRecord
    service: Service
    stack: ExitStack


class CampaignRun:
    """Runs one campaign to its end; every finished launch and level is stored as it comes."""

    def __init__(self, campaign: Campaign, parts: Parts, bounds: Bounds) -> None:
        self._campaign = campaign
        self._parts = parts
        self._bounds = bounds
        self._launches = list(campaign.launches)
        self._decisions = list(campaign.decisions)
        self._started = parts.clock.now()
        self._running: _Running | None = None

    def run(self) -> Ending:
        """Go on until the strategy finishes, the deadline comes or somebody interrupts.

        The service is stopped and its configuration is back in each case.
        Raises NotRestored when that fails.
        """
        stop: KeyboardInterrupt | DeadlineReached | None = None
        finish: Finish | None = None
        try:
            finish = self._search()
        except (KeyboardInterrupt, DeadlineReached) as reason:
            stop = reason
        finally:
            self._take_down()
        return ended(self.so_far(), finish, stop, wall=self._parts.clock.wall())

    def _search(self) -> Finish:
        while True:
            move = self._parts.strategy.next_move(self._history())
            self._note(move)
            match move:
                case Finish():
                    self._end_launch()
                    return move
                case Launch():
                    self._end_launch()
                    self._launch(move)
                case Measure():
                    self._measure(move)
                case Wait():
                    self._parts.clock.sleep(_WAIT_SECONDS)

    def _launch(self, move: Launch) -> None:
        self._check_deadline()
        number = len(self._launches) + 1
        record = LaunchRecord(number=number, purpose=move.purpose, settings=move.settings)
        tell = self._parts.listener
        tell(LaunchStarted(number=number, purpose=move.purpose, settings=move.settings, reason=move.reason))
        self._parts.store.launch_started(record)
        self._launches.append(record)
        tell(PhaseChanged(number=number, phase=Phase.STARTING))
        stack = ExitStack()
        began = self._parts.clock.now()
        try:
            service = stack.enter_context(self._parts.engine.launch(move.settings))
        except LaunchFailed as failure:
            self._failed(record, failure, PhaseSeconds(start=self._parts.clock.now() - began))
            return
        self._running = _Running(record=record, service=service, stack=stack)
        self._keep(blocks=service.blocks, start=self._parts.clock.now() - began)
        self._warm_up()

    def _warm_up(self) -> None:
        running = self._must_run()
        self._parts.listener(PhaseChanged(number=running.record.number, phase=Phase.WARMING_UP))
        began = self._parts.clock.now()
        try:
            with self._parts.clock.interruptible():
                self._parts.source.warm_up(running.service)
        except LaunchFailed as failure:
            self._keep(warm_up=self._parts.clock.now() - began)
            self._failed_running(failure)
            return
        self._keep(warm_up=self._parts.clock.now() - began)

    def _measure(self, move: Measure) -> None:
        running = self._must_run()
        tell = self._parts.listener
        tell(PhaseChanged(number=running.record.number, phase=Phase.MEASURING))
        began = self._parts.clock.now()
        request = LevelRequest(
            concurrency=move.concurrency,
            half_width=move.half_width,
            cap_seconds=min(self._cap_seconds(), move.longest_seconds or math.inf),
            stop_below=move.stop_below,
            at_once=running.record.settings.max_batch_size,
            sweep=running.record.purpose is Purpose.SCOUT,
        )
        with self._parts.clock.interruptible():
            level = self._parts.source.measure(running.service, request, tell)
        record = running.record
        self._keep(measure=self._parts.clock.now() - began, level=level)
        self._parts.store.level_ended(record.number, level)
        tell(LevelEnded(number=record.number, level=level))
        self._check_alive(level)

    def _check_alive(self, level: Level) -> None:
        running = self._must_run()
        try:
            running.service.check()
        except LaunchFailed as failure:
            self._failed_running(failure)
            return
        if isinstance(level, Invalid) and level.reason in _DEADLY:
            self._failed_running(self._why(level))

    def _why(self, level: Invalid) -> LaunchFailed:
        """Give a service that is on its way down a moment; one that stays hangs."""
        service, clock = self._must_run().service, self._parts.clock
        limit = clock.now() + _GOING_SECONDS
        while level.reason is InvalidReason.SERVICE_DIED and clock.now() < limit:
            clock.sleep(_GOING_SECONDS / 10)
            try:
                service.check()
            except LaunchFailed as failure:
                return failure
        lines = (level.detail,) if level.detail else ()
        message = "the service is there and answers no request any more"
        return LaunchFailed(LaunchCause.TIMEOUT, message, lines=lines)

    def _end_launch(self) -> None:
        """Stop the running launch, if any, and make its record final."""
        if self._running is None:
            return
        self._take_down()
        self._close(replace(self._launches[-1], outcome=Outcome.ENDED))

    def _failed_running(self, failure: LaunchFailed) -> None:
        self._take_down()
        self._failed(self._launches[-1], failure, self._launches[-1].seconds)

    def _failed(self, record: LaunchRecord, failure: LaunchFailed, seconds: PhaseSeconds) -> None:
        detail = "\n".join((failure.message, *failure.lines))
        failed = replace(record, outcome=Outcome.FAILED, cause=failure.cause, detail=detail, seconds=seconds)
        self._close(failed)

    def _close(self, record: LaunchRecord) -> None:
        self._launches[-1] = record
        self._parts.store.launch_ended(record)
        self._parts.listener(LaunchEnded(record=record))
        told = self._campaign.forecast
        if told is not None:
            left = remaining(self.so_far(), told, self._bounds.max_launches)
            self._parts.listener(ForecastChanged(remaining=left))

    def _take_down(self) -> None:
        """Stop the service and put its configuration back; what raises here leaves nothing running."""
        running, self._running = self._running, None
        if running is None:
            return
        self._parts.listener(PhaseChanged(number=running.record.number, phase=Phase.STOPPING))
        began = self._parts.clock.now()
        running.stack.close()
        seconds = replace(self._launches[-1].seconds, stop=self._parts.clock.now() - began)
        self._launches[-1] = replace(self._launches[-1], seconds=seconds)

    def _keep(
        self,
        *,
        blocks: Blocks | None = None,
        level: Level | None = None,
        start: float = 0.0,
        warm_up: float = 0.0,
        measure: float = 0.0,
    ) -> None:
        running = self._must_run()
        record = running.record
        seconds = replace(
            record.seconds,
            start=record.seconds.start + start,
            warm_up=record.seconds.warm_up + warm_up,
            measure=record.seconds.measure + measure,
        )
        levels = (*record.levels, level) if level is not None else record.levels
        if blocks is not None:
            record = replace(record, blocks=blocks.count, blocks_source=blocks.source)
        running.record = replace(record, seconds=seconds, levels=levels)
        self._launches[-1] = running.record

    def _history(self) -> History:
        left = BudgetLeft(
            launches=self._bounds.max_launches - len(self._launches), seconds=self._seconds_left()
        )
        return History(launches=tuple(self._launches), budget=left)

    def _note(self, move: Move) -> None:
        if isinstance(move, Wait):
            return
        decision = decision_of(move, self._launches)
        self._decisions.append(decision)
        self._parts.store.decided(decision)

    def so_far(self) -> Campaign:
        """The campaign with the launches that are final."""
        final = tuple(launch for launch in self._launches if launch.outcome is not Outcome.PENDING)
        return replace(self._campaign, launches=final, decisions=tuple(self._decisions))

    def _seconds_left(self) -> float:
        spent = self._parts.clock.now() - self._started
        return self._bounds.deadline_seconds - self._bounds.restore_reserve_seconds - spent

    def _cap_seconds(self) -> float:
        self._check_deadline()
        left = self._seconds_left() * self._campaign.description.time_scale
        return min(self._bounds.level_cap_seconds, left)

    def _check_deadline(self) -> None:
        if self._seconds_left() <= 0:
            raise DeadlineReached("the deadline was reached", hint="autotune tune --resume goes on")

    def _must_run(self) -> _Running:
        assert self._running is not None, "a strategy measures only while a launch runs"
        return self._running
