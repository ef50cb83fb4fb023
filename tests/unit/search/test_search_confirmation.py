"""Confirmation: only fresh launches, by turns, and no claim without proof."""

import random

import pytest

from autotune.errors import LaunchCause
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome, PhaseSeconds, Purpose
from autotune.model.move import Finish, Launch, VerdictCode
from autotune.model.settings import Settings
from autotune.search.confirmation import Confirmed
from autotune.search.options import Options
from autotune.search.strategy import make_strategy

OLD = Settings(max_batch_size=200)


class Fixed:
    """Launches one candidate and names it."""

    def __init__(self, space, size):
        self.settings = space.settings_for(size)
        self.seen = []

    def next_move(self, history):
        self.seen.append(history)
        if history.of(self.settings) or history.budget.launches <= 0:
            return Finish(settings=self.settings, code=VerdictCode.IMPROVED, reason="found")
        return Launch(settings=self.settings, purpose=Purpose.CANDIDATE)


class Reading(Fixed):
    """The same, and reads it."""

    def next_move(self, history):
        from autotune.search.evidence import reading_move

        return reading_move(history, 1306, 0.01, reason="") or super().next_move(history)


def noisy(tools, speeds, sigma, seed=1):
    rng = random.Random(seed)
    return lambda launch, move: tools.measured(
        move.concurrency,
        speeds[launch.settings.max_batch_size] * (1.0 + rng.gauss(0.0, sigma)),
        max(0.01, 1.96 * sigma),
    )


def confirmed(tools, size=500, inner=Reading, **space):
    where = tools.space(incumbent=OLD, **space)
    return Confirmed(inner(where, size), where, Options())


def test_a_clear_gain_takes_one_launch_a_side(tools):
    played = tools.play(confirmed(tools), noisy(tools, {200: 1000.0, 500: 1200.0}, 0.001))
    assert played.purposes == ["incumbent", "candidate", "confirmation", "confirmation"]
    assert played.sizes == [200, 500, 500, 200]
    assert played.finish.code is VerdictCode.IMPROVED
    assert played.finish.reason == "found"


def test_the_inner_strategy_sees_no_confirmation(tools):
    where = tools.space(incumbent=OLD)
    inner = Reading(where, 500)
    tools.play(Confirmed(inner, where, Options()), noisy(tools, {200: 1000.0, 500: 1030.0}, 0.02))
    assert all(each.purpose is not Purpose.CONFIRMATION for seen in inner.seen for each in seen.launches)
    assert (
        len({seen.budget.launches for seen in inner.seen if seen.running is None or len(seen.launches) == 2})
        == 1
    )


def test_at_most_four_a_side_by_turns(tools):
    played = tools.play(confirmed(tools), noisy(tools, {200: 1000.0, 500: 1025.0}, 0.03, seed=3), launches=20)
    fresh = [s for s, p in zip(played.sizes, played.purposes, strict=True) if p == "confirmation"]
    assert 2 <= len(fresh) <= 8
    assert abs(fresh.count(200) - fresh.count(500)) <= 1


@pytest.mark.slow
def test_equal_settings_are_rarely_announced_as_a_gain(tools):
    """At most 62 of 1,000 at 3 % noise; here 62 in proportion over 600 runs."""
    false = 0
    for seed in range(600):
        played = tools.play(
            confirmed(tools, inner=Fixed), noisy(tools, {200: 1000.0, 500: 1000.0}, 0.03, seed=seed)
        )
        false += played.finish.code is VerdictCode.IMPROVED
    assert false <= 0.062 * 600


def test_a_smaller_setting_that_is_as_fast_is_named_and_not_called_a_gain(tools):
    played = tools.play(confirmed(tools, size=100), noisy(tools, {200: 1000.0, 100: 1000.0}, 0.001))
    assert played.finish.code is VerdictCode.EQUAL_SMALLER
    assert played.finish.settings.max_batch_size == 100


def test_a_larger_setting_that_is_as_fast_leaves_the_incumbent(tools):
    played = tools.play(confirmed(tools), noisy(tools, {200: 1000.0, 500: 1001.0}, 0.001))
    assert (played.finish.code, played.finish.settings) == (VerdictCode.INCUMBENT_BEST, OLD)


def test_a_gain_below_one_percent_does_not_replace(tools):
    played = tools.play(confirmed(tools, inner=Fixed), noisy(tools, {200: 1000.0, 500: 1007.0}, 0.0001))
    assert played.finish.code is VerdictCode.INCUMBENT_BEST


def test_a_lucky_reading_of_the_search_is_found_out(tools):
    def read(launch, move):
        lucky = launch.purpose is Purpose.CANDIDATE
        return tools.measured(move.concurrency, 1100.0 if lucky else 1000.0)

    assert tools.play(confirmed(tools), read).finish.code is VerdictCode.INCUMBENT_BEST


def test_an_incumbent_that_fails_lets_the_search_go_on(tools):
    played = tools.play(
        confirmed(tools),
        noisy(tools, {500: 1000.0}, 0.001),
        lambda launch: LaunchCause.UNKNOWN if launch.settings == OLD else None,
    )
    assert played.sizes == [200, 200, 500, 500]
    assert played.finish.code is VerdictCode.IMPROVED
    assert "gave no reading" in played.finish.reason


def test_a_winner_that_does_not_come_up_again_is_dropped(tools):
    played = tools.play(
        confirmed(tools),
        noisy(tools, {200: 1000.0, 500: 1200.0}, 0.001),
        lambda each: (
            LaunchCause.MEMORY if each.purpose is Purpose.CONFIRMATION and each.settings != OLD else None
        ),
    )
    assert (played.finish.code, played.finish.settings) == (VerdictCode.INCUMBENT_BEST, OLD)


def test_an_incumbent_that_does_not_come_up_again_stays_unbeaten(tools):
    played = tools.play(
        confirmed(tools),
        noisy(tools, {200: 1000.0, 500: 1200.0}, 0.001),
        lambda each: (
            LaunchCause.PORT if each.purpose is Purpose.CONFIRMATION and each.settings == OLD else None
        ),
    )
    assert played.finish.code is VerdictCode.INCUMBENT_BEST


def test_an_incumbent_of_the_candidates_settings_is_best(tools):
    where = tools.space()
    where = tools.space(incumbent=where.settings_for(500))
    played = tools.play(Confirmed(Reading(where, 500), where, Options()), noisy(tools, {500: 1000.0}, 0.001))
    assert played.finish.code is VerdictCode.INCUMBENT_BEST
    assert len(played.sizes) == 1


def test_without_time_for_another_launch_nothing_is_claimed(tools):
    where = tools.space(incumbent=OLD)
    settings = where.settings_for(500)
    launches = tuple(
        LaunchRecord(
            number=number,
            purpose=purpose,
            settings=which,
            outcome=Outcome.ENDED,
            blocks=2176,
            levels=(tools.measured(1306, speed),),
            seconds=PhaseSeconds(start=100.0, measure=200.0),
        )
        for number, (purpose, which, speed) in enumerate(
            [(Purpose.INCUMBENT, OLD, 1000.0), (Purpose.CANDIDATE, settings, 1200.0)], start=1
        )
    )
    strategy = Confirmed(Reading(where, 500), where, Options())
    late = strategy.next_move(History(launches=launches, budget=BudgetLeft(launches=10, seconds=250.0)))
    assert isinstance(late, Finish)
    assert late.code is VerdictCode.INCUMBENT_BEST
    early = strategy.next_move(History(launches=launches, budget=BudgetLeft(launches=10, seconds=2500.0)))
    assert isinstance(early, Launch)


@pytest.mark.parametrize("launches", [1, 2, 3, 4])
def test_a_tiny_budget_ends_with_the_incumbent(tools, launches):
    strategy = make_strategy("guide", tools.space(incumbent=OLD), Options())
    played = tools.play(strategy, tools.read_curve(lambda b: float(min(b, 510))), launches=launches)
    assert played.finish.code in {VerdictCode.INCUMBENT_BEST, VerdictCode.IMPROVED}
    assert len(played.sizes) <= launches
