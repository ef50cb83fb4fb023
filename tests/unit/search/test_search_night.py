"""A night's choices: few launches while nothing changes, more where something points at a change."""

from dataclasses import replace

import pytest

from autotune.errors import LaunchCause
from autotune.model.campaign import Campaign
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.move import VerdictCode
from autotune.model.service import Description
from autotune.model.settings import Settings
from autotune.search.night import ALL_LAUNCHES, NightStrategy
from autotune.search.night_memory import NEW_LEVEL_NIGHTS, Memory, completed, remember
from autotune.search.options import Options
from autotune.search.probes import RATIOS, probe_sizes
from tests.bench.nights.play import Host
from tests.bench.nights.world import CALM, moved

FOUND = Settings(max_batch_size=500)


def peak_at_500(size):
    """A mild hump around the guide's best value, 2980 token/s at 500."""
    return max(300.0, 2980.0 - 0.01 * (size - 500) ** 2)


def campaign(*launches):
    description = Description(
        kind="mindie", version="2.2", place="/", model_name="m", incumbent=FOUND, block_size=128
    )
    return Campaign(
        run="r",
        profile_name="p",
        profile_text="",
        description=description,
        bracket=None,
        strategy="night",
        started_wall=0.0,
        launches=launches,
    )


@pytest.fixture
def space(tools):
    return tools.space(incumbent=FOUND, tune_prefill=False)


@pytest.fixture
def night_of(tools, space):
    """A night's launches of the found setting, as history keeps them."""

    def make(*speeds, settings=FOUND, blocks=2176):
        return campaign(
            *(
                LaunchRecord(
                    number=number,
                    purpose=Purpose.INCUMBENT,
                    settings=settings,
                    outcome=Outcome.ENDED,
                    blocks=blocks,
                    levels=(tools.measured(space.concurrency, speed),),
                )
                for number, speed in enumerate(speeds, start=1)
            )
        )

    return make


@pytest.fixture
def known(night_of, space):
    """Ten nights that read 1 % around 2980."""
    past = [night_of(2980.0 * factor, 2980.0 / factor) for factor in (1.004, 0.996, 1.008, 0.993, 1.005) * 2]
    return past, remember(past, concurrency=space.concurrency)


def test_a_quiet_night_is_the_incumbent_twice_and_one_look_on_either_side(tools, space, known):
    strategy = NightStrategy(space, Options(), known[1])
    played = tools.play(strategy, tools.read_curve(peak_at_500), launches=40)
    assert played.finish.code is VerdictCode.INCUMBENT_BEST
    assert played.sizes == [500, 500, 625, 400]
    assert not strategy.findings(played.history).changed


@pytest.mark.slow
def test_an_odd_night_is_measured_more_often_and_then_told_as_slower(tools, space, known):
    strategy = NightStrategy(space, Options(), known[1])
    played = tools.play(strategy, tools.read_curve(lambda size: 0.9 * peak_at_500(size)), launches=40)
    findings = strategy.findings(played.history)
    assert findings.departure.slower
    assert findings.departure.change == pytest.approx(-0.1, abs=0.005)
    assert played.purposes[:ALL_LAUNCHES] == ["incumbent"] * ALL_LAUNCHES
    assert "scout" in played.purposes, "a drift asks for a wider search"
    assert played.finish.settings == FOUND, "the whole host is slower: nothing else is better"


def test_moved_blocks_ask_for_a_wider_search_at_once(tools, space, known):
    strategy = NightStrategy(space, Options(), known[1])
    played = tools.play(strategy, tools.read_curve(peak_at_500), launches=40, blocks=1500)
    assert strategy.findings(played.history).blocks_moved
    assert "scout" in played.purposes


def test_an_incumbent_that_does_not_start_is_replaced_by_what_starts_twice(tools, space, known):
    strategy = NightStrategy(space, Options(), known[1])
    played = tools.play(
        strategy,
        tools.read_curve(peak_at_500),
        start=lambda launch: LaunchCause.MEMORY if launch.settings.max_batch_size >= 480 else None,
        launches=40,
    )
    assert played.finish.code is VerdictCode.IMPROVED
    size = played.finish.settings.max_batch_size
    assert size < 480
    assert sum(each == size for each in played.sizes) >= 2


def test_a_night_whose_budget_ends_keeps_what_is_served(tools, space, known):
    strategy = NightStrategy(space, Options(), known[1])
    for launches in (1, 2, 3, 5, 7):
        played = tools.play(
            strategy, tools.read_curve(lambda size: 0.9 * peak_at_500(size)), launches=launches
        )
        assert played.finish.settings == FOUND


@pytest.mark.slow
def test_the_same_readings_lead_to_the_same_moves(tools, space, known):
    past, memory = known
    read = tools.read_curve(lambda size: 0.9 * peak_at_500(size))
    first = tools.play(NightStrategy(space, Options(), memory), read, launches=40)
    again = NightStrategy(space, Options(), remember(past, concurrency=space.concurrency))
    assert all(again.next_move(history) == move for history, move in first.steps)


def test_a_regression_is_not_taken_into_the_band_until_it_is_the_new_level(night_of, space, known):
    past = list(known[0])
    for nights in range(1, NEW_LEVEL_NIGHTS + 1):
        past.append(night_of(2600.0, 2610.0))
        levels = [
            night[0].tokens_per_second for night in remember(past, concurrency=space.concurrency).of(FOUND)
        ]
        assert (min(levels) < 2700.0) == (nights == NEW_LEVEL_NIGHTS)
    assert len(levels) == NEW_LEVEL_NIGHTS


def test_an_applied_winner_is_known_by_all_of_its_values(space):
    found = replace(FOUND, max_queue_delay_microseconds=5000, support_select_batch=False)
    winner = Settings(max_batch_size=560, support_select_batch=True)
    assert completed(winner, found) == Settings(
        max_batch_size=560, support_select_batch=True, max_queue_delay_microseconds=5000
    )


def test_neighbours_move_out_to_where_history_shows_a_loss(tools, space, night_of):
    def flat_to(ratio):
        runs = []
        for _ in range(2):
            launches = list(night_of(2980.0, 2980.0).launches)
            for number, each in enumerate(RATIOS, start=3):
                size = space.nearest(500 * each)
                speed = 2980.0 if each < ratio else 2500.0
                settings = space.settings_for(size)
                launches += night_of(speed, settings=settings).launches
                launches[-1] = replace(launches[-1], number=number, purpose=Purpose.CANDIDATE)
            runs.append(campaign(*launches))
        return remember(runs, concurrency=space.concurrency)

    for ratio in RATIOS:
        up = max(probe_sizes(space, FOUND, flat_to(ratio)))
        assert up == space.nearest(500 * ratio)
    assert probe_sizes(space, FOUND, Memory()) == (625, 400)
    edge = Memory(fails_at=560)
    assert max(probe_sizes(space, FOUND, edge)) <= 0.95 * 560


@pytest.mark.slow
def test_fifty_nights_without_change_tell_of_nothing():
    """Two hundred on six kinds of curves: python -m tests.bench.nights."""
    host = Host(served=CALM[0].best, seed=3)
    nights = [host.play(CALM[0]) for _ in range(50)]
    assert not any(night.alarm for night in nights)
    assert sum(night.launches for night in nights) / 50 <= 6
    assert host.served == CALM[0].best


@pytest.mark.slow
def test_ten_per_cent_slower_are_noticed_the_same_night():
    for seed in range(4):
        host = Host(served=CALM[0].best, seed=50 + seed)
        for _ in range(8):
            host.play(CALM[0], opening_only=True)
        assert host.play(CALM[0].slower(0.10), opening_only=True).slower


@pytest.mark.slow
@pytest.mark.parametrize("change", [0, 1])
def test_an_optimum_that_moves_with_the_blocks_is_followed_within_two_nights(change):
    new = moved(CALM[0])[change]
    host = Host(served=CALM[0].best, seed=1000)
    assert new.lost(host.served) >= 0.05
    for _ in range(10):
        host.play(CALM[0], opening_only=True)
    host.play(new)
    host.play(new)
    assert new.lost(host.served) <= 0.025
