"""The loop of a campaign against a scripted host."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.parts import Bounds, Parts
from autotune.campaign.run import CampaignRun
from autotune.errors import LaunchCause, NotRestored
from autotune.events import LaunchEnded
from autotune.model.launch import History, Outcome, Purpose
from autotune.model.move import Expected, Finish, Launch, Measure, Move, VerdictCode
from autotune.model.settings import Settings

A, B = Settings(max_batch_size=435), Settings(max_batch_size=500)
PLAN: tuple[Move, ...] = (
    Launch(settings=A, purpose=Purpose.INCUMBENT, reason="as found"),
    Measure(concurrency=1000, half_width=0.01),
    Launch(settings=B, purpose=Purpose.CANDIDATE, reason="next hundred"),
    Measure(concurrency=1000, half_width=0.01),
    Finish(settings=B, code=VerdictCode.IMPROVED, reason="throughput dropped"),
)


@dataclass
class Script:
    """A strategy that says its moves in order, and keeps the histories that it saw."""

    moves: list[Move]
    seen: list[History] = field(default_factory=list)

    def next_move(self, history: History) -> Move:
        self.seen.append(history)
        return self.moves.pop(0)


@pytest.fixture
def run(host, store, events, clock, campaign) -> Callable[..., CampaignRun]:
    def make(*moves: Move, bounds: Bounds | None = None) -> CampaignRun:
        parts = Parts(
            engine=host,
            source=host,
            strategy=Script(list(moves)),
            store=store,
            clock=InterruptibleClock(clock),
            listener=events.append,
        )
        return CampaignRun(campaign, parts, bounds or Bounds(max_launches=12, level_cap_seconds=600))

    return make


def test_a_launch_is_stopped_before_the_next_one_starts(run, host):
    run(*PLAN).run()
    assert host.log == [
        *("start 435", "warm up", "measure 1000", "stop 435"),
        *("start 500", "warm up", "measure 1000", "stop 500"),
    ]


def test_the_ending_carries_the_gain_and_exit_code_zero(run):
    ending = run(*PLAN).run()
    assert ending.exit_code == 0
    verdict = ending.campaign.verdict
    assert verdict.code is VerdictCode.IMPROVED
    assert verdict.gain == pytest.approx(1500 / 1435 - 1)
    assert verdict.gain_low < verdict.gain < verdict.gain_high
    assert ending.campaign.restored


def test_time_is_kept_apart_by_phase(run):
    launch = run(*PLAN).run().campaign.launches[0]
    assert (launch.seconds.start, launch.seconds.warm_up) == (60, 5)
    assert (launch.seconds.measure, launch.seconds.stop) == (200, 10)
    assert launch.blocks == 2176


def test_a_failed_start_is_an_outcome_with_its_cause_and_lines(run, host, events):
    host.failing[500] = LaunchCause.MEMORY
    ending = run(*PLAN[:3], Finish(settings=A, code=VerdictCode.INCUMBENT_BEST)).run()
    failed = ending.campaign.launches[1]
    assert (failed.outcome, failed.cause) == (Outcome.FAILED, LaunchCause.MEMORY)
    assert failed.detail == "did not start\nline one"
    assert [event.record.number for event in events if isinstance(event, LaunchEnded)] == [1, 2]


def test_a_service_that_dies_under_load_is_a_failed_launch(run, host):
    def die() -> None:
        host.up.dead = True

    host.on_measure = die
    ending = run(*PLAN[:2], Finish(settings=None, code=VerdictCode.NOT_MEASURABLE)).run()
    assert ending.campaign.launches[0].cause is LaunchCause.CRASHED
    assert host.log[-1] == "stop 435"
    assert ending.exit_code == 5


def test_an_interrupt_under_load_takes_the_service_down_and_reports_the_best_so_far(run, host, store):
    def interrupt() -> None:
        if len(store.levels) == 1:
            raise KeyboardInterrupt

    host.on_measure = interrupt
    ending = run(*PLAN).run()
    assert ending.exit_code == 130
    assert host.log[-1] == "stop 500"
    assert ending.campaign.verdict.code is VerdictCode.INTERRUPTED
    assert ending.campaign.verdict.best.settings == A
    assert [launch.number for launch in ending.campaign.launches] == [1]


def test_the_deadline_ends_a_campaign_with_124_and_what_was_found(run, host):
    bounds = Bounds(max_launches=12, level_cap_seconds=600, deadline_seconds=330, restore_reserve_seconds=30)
    ending = run(*PLAN, bounds=bounds).run()
    assert ending.exit_code == 124
    assert host.log[-1].startswith("stop")
    assert ending.campaign.verdict.best.settings == A


def test_a_level_never_outlives_the_deadline(run, clock):
    bounds = Bounds(max_launches=12, level_cap_seconds=600, deadline_seconds=200, restore_reserve_seconds=30)
    run(*PLAN, bounds=bounds).run()
    assert clock.now() <= 200


def test_a_strategy_sees_the_launch_that_runs_and_what_is_left(host, store, events, clock, campaign):
    script = Script(list(PLAN))
    parts = Parts(
        engine=host,
        source=host,
        strategy=script,
        store=store,
        clock=InterruptibleClock(clock),
        listener=events.append,
    )
    CampaignRun(campaign, parts, Bounds(max_launches=5, level_cap_seconds=600)).run()
    assert [history.budget.launches for history in script.seen] == [5, 4, 4, 3, 3]
    assert script.seen[1].running.settings == A
    assert script.seen[1].running.blocks == 2176


def test_what_cannot_be_put_back_is_told_and_not_swallowed(run, host, monkeypatch):
    def broken() -> None:
        raise NotRestored("config.json was changed by somebody else")

    original = host.launch

    class Launching:
        def __init__(self, settings: Settings) -> None:
            self._context = original(settings)

        def __enter__(self):
            return self._context.__enter__()

        def __exit__(self, *details: object) -> None:
            self._context.__exit__(*details)
            broken()

    monkeypatch.setattr(host, "launch", Launching)
    with pytest.raises(NotRestored):
        run(*PLAN).run()
    assert host.log[-1] == "stop 435"


def test_every_move_is_stored_for_the_replay(run, store):
    run(*PLAN).run()
    kinds = [decision.kind for decision in store.decisions]
    assert kinds == ["launch", "measure", "launch", "measure", "finish"]
    assert [decision.after_levels for decision in store.decisions] == [0, 0, 1, 1, 2]


def test_what_a_launch_was_expected_to_read_is_kept_with_the_decision(run):
    told = Expected(tokens_per_second=1480.0, half_width=0.04)
    foretold = Launch(settings=B, purpose=Purpose.CANDIDATE, reason="promises most", expected=told)
    decisions = run(*PLAN[:2], foretold, *PLAN[3:]).run().campaign.decisions
    assert [decision.expected for decision in decisions] == [None, None, told, None, None]
