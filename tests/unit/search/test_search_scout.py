"""The scout: a handful of starts on curves of every kind, and what it may never do."""

import math
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.errors import LaunchCause
from autotune.model.launch import Purpose
from autotune.model.move import Launch, Measure, VerdictCode
from autotune.model.settings import Settings
from autotune.search.options import Options
from autotune.search.strategy import make_strategy

pytestmark = pytest.mark.slow
OLD = Settings(max_batch_size=200)


def scout(tools, **space):
    return make_strategy(
        "scout", tools.space(**({"incumbent": OLD, "tune_prefill": False} | space)), Options()
    )


def peak(top, loss=0.3):
    """Rises as b / (b + h) to its top, then falls."""

    def speed(size):
        rise = min(size, top) / (min(size, top) + 0.5 * top)
        return 4500.0 * rise * (1.0 - loss * min(1.0, max(0.0, size / top - 1.0) / 0.5))

    return speed


def noisy(tools, curve, sigma=0.005, seed=1, bias=lambda _: 0.0):
    rng = random.Random(seed)

    def read(launch, move):
        size = min(launch.settings.max_batch_size, move.concurrency)
        swept = launch.purpose is Purpose.SCOUT and move.concurrency < launch.settings.max_batch_size
        true = curve(size) * (1.0 + (bias(size) if swept else 0.0))
        return tools.measured(
            move.concurrency, true * (1.0 + rng.gauss(0.0, sigma)), max(move.half_width, 1.96 * sigma)
        )

    return read


@pytest.mark.parametrize("top", [380, 520, 700, 1000])
def test_the_top_is_found_in_a_handful_of_starts(tools, top):
    curve = peak(top)
    played = tools.play(scout(tools), noisy(tools, curve))
    assert played.finish.code is VerdictCode.IMPROVED
    assert curve(played.finish.settings.max_batch_size) >= 0.98 * curve(top)
    assert len(played.sizes) <= 10
    assert played.purposes[:2] == ["incumbent", "scout"]


def test_a_sweep_is_one_launch_of_at_most_eight_levels_and_repeats_its_first(tools):
    played = tools.play(scout(tools), noisy(tools, peak(520)))
    sweeps = [each for each in played.history.launches if each.purpose is Purpose.SCOUT]
    levels = [level.concurrency for level in sweeps[0].levels]
    assert len(sweeps) == 1
    assert 3 <= len(levels) <= 8
    assert levels[0] == levels[-1]


def test_what_is_recommended_was_restarted_and_not_only_swept(tools):
    played = tools.play(scout(tools), noisy(tools, peak(520)))
    winners = played.history.of(played.finish.settings)
    assert any(each.purpose is Purpose.CANDIDATE and each.measurements for each in winners)


@pytest.mark.parametrize(
    "bias", [lambda b: -0.1 + 0.1 * b / 1000.0, lambda b: 0.15 - 0.15 * b / 1000.0], ids=["low", "high"]
)
def test_a_sweep_that_is_smoothly_wrong_is_put_right_by_restarts(tools, bias):
    curve = peak(560)
    played = tools.play(scout(tools), noisy(tools, curve, bias=bias))
    assert curve(played.finish.settings.max_batch_size) >= 0.97 * curve(560)


def test_a_cold_first_launch_does_not_make_a_gain(tools):
    def read(launch, move):
        cold = 0.88 if launch.number == 1 else 1.0
        return tools.measured(move.concurrency, cold * 3000.0, move.half_width)

    played = tools.play(scout(tools), read)
    assert played.finish.code in {VerdictCode.INCUMBENT_BEST, VerdictCode.EQUAL_SMALLER}


def test_an_incumbent_that_is_best_is_kept(tools):
    played = tools.play(scout(tools, incumbent=Settings(max_batch_size=500)), noisy(tools, peak(500)))
    assert played.finish.code is VerdictCode.INCUMBENT_BEST
    assert played.finish.settings.max_batch_size == 500


def test_an_optimum_above_the_bracket_is_found(tools):
    curve = peak(1500, loss=0.4)
    played = tools.play(scout(tools, concurrency=3000), noisy(tools, curve))
    assert curve(played.finish.settings.max_batch_size) >= 0.97 * curve(1500)


def test_an_optimum_below_the_bracket_is_found(tools):
    curve = peak(250, loss=0.4)
    played = tools.play(scout(tools, incumbent=Settings(max_batch_size=600)), noisy(tools, curve))
    assert curve(played.finish.settings.max_batch_size) >= 0.97 * curve(250)


def test_an_edge_right_above_the_best_value_is_stepped_on_at_most_twice(tools):
    played = tools.play(
        scout(tools, incumbent=Settings(max_batch_size=435)),
        noisy(tools, peak(900), sigma=0.002),
        lambda each: LaunchCause.MEMORY if each.settings.max_batch_size >= 620 else None,
    )
    assert sum(each.cause is LaunchCause.MEMORY for each in played.history.launches) <= 2
    assert played.finish.settings.max_batch_size < 620
    assert peak(900)(played.finish.settings.max_batch_size) >= 0.93 * peak(900)(619)


def test_a_service_that_dies_in_the_sweep_still_gives_what_it_read_before(tools):
    good = noisy(tools, peak(480))

    def read(launch, move):
        load = min(launch.settings.max_batch_size, move.concurrency)
        return LaunchCause.CRASHED if load >= 600 else good(launch, move)

    played = tools.play(scout(tools), read)
    assert peak(480)(played.finish.settings.max_batch_size) >= 0.97 * peak(480)(480)
    assert sum(each.cause is LaunchCause.CRASHED for each in played.history.launches) <= 2


def test_without_an_incumbent_the_sweep_comes_first(tools):
    played = tools.play(scout(tools, incumbent=None), noisy(tools, peak(520)))
    assert played.purposes[0] == "scout"
    assert played.finish.code is VerdictCode.IMPROVED


def test_only_values_of_the_grid_are_launched(tools):
    grid = (64, 128, 192, 256, 384, 512, 768)
    played = tools.play(scout(tools, grid=grid), noisy(tools, peak(520)))
    assert set(played.sizes[1:]) <= {*grid, 200}
    assert played.finish.settings.max_batch_size == 512


def test_a_restless_service_is_swept_in_long_levels_near_the_peak(tools):
    def asked(sigma):
        played = tools.play(scout(tools), noisy(tools, peak(520), sigma=sigma))
        return [
            (move.half_width, move.longest_seconds)
            for history, move in played.steps
            if isinstance(move, Measure) and history.running.purpose is Purpose.SCOUT
        ]

    assert set(asked(0.001)) == {(0.02, None)}
    assert set(asked(0.02)) == {(0.01, 240.0), (0.01, 120.0)}


def test_a_losing_restart_is_told_when_to_stop(tools):
    played = tools.play(scout(tools), noisy(tools, peak(520)))
    bars = [
        move.stop_below
        for history, move in played.steps
        if isinstance(move, Measure) and history.running.purpose is Purpose.CANDIDATE
    ]
    assert bars[0] < 0.99 * 3000.0
    assert all(bar is not None and math.isfinite(bar) for bar in bars)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1000), unit=st.sampled_from([0.01, 7.0, 1e4]))
def test_another_unit_of_speed_leads_to_as_good_an_answer(tools, seed, unit):
    curve = peak(350 + seed % 500)
    one = tools.play(scout(tools), noisy(tools, curve, seed=seed))
    other = tools.play(scout(tools), noisy(tools, lambda b: unit * curve(b), seed=seed))
    found = [each.finish.settings.max_batch_size for each in (one, other)]
    assert curve(found[1]) == pytest.approx(curve(found[0]), rel=0.03)


def test_a_restart_says_beforehand_what_it_should_read(tools):
    kept = []
    for seed in (1, 2):
        played = tools.play(scout(tools), noisy(tools, peak(520), seed=seed))
        expected = [
            (len(history.launches), move.expected)
            for history, move in played.steps
            if isinstance(move, Launch) and move.purpose is Purpose.CANDIDATE
        ]
        assert expected
        assert all(told is not None and 0.0 < told.half_width < 0.5 for _, told in expected)
        for at, told in expected:
            reading = played.history.launches[at].last.tokens_per_second
            kept.append(abs(reading / told.tokens_per_second - 1.0) <= told.half_width)
    assert sum(kept) >= 0.75 * len(kept)
