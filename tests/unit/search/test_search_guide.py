"""The guide strategy: the vendor's example, and how it tells a drop from noise."""

import pytest

from autotune.errors import LaunchCause
from autotune.model.measurement import Invalid, InvalidReason
from autotune.model.move import VerdictCode
from autotune.model.settings import Settings
from autotune.search.options import Options
from autotune.search.strategy import make_strategy

VENDOR = {435: 2845.3, 500: 2980.3, 600: 2520.6}
"""Token/s of the vendor's tuning guide (GenerateSpeedPerClient x 1000 clients)."""


def guide(tools, **space):
    return make_strategy("guide", tools.space(**space), Options())


def test_the_vendors_readings_end_at_500_because_throughput_dropped(tools):
    played = tools.play(guide(tools), tools.read_curve(VENDOR.__getitem__))
    assert played.sizes == [435, 500, 600]
    assert [each.settings.max_prefill_batch_size for each in played.history.launches] == [217, 250, 300]
    assert played.finish.settings.max_batch_size == 500
    assert played.finish.reason == "throughput dropped"
    assert played.finish.code is VerdictCode.IMPROVED


def test_blocks_of_the_incumbents_launch_win_over_the_estimate(tools):
    strategy = guide(tools, incumbent=Settings(max_batch_size=200), blocks=100)
    played = tools.play(strategy, tools.read_curve(lambda b: min(b, 520.0)), blocks=2176)
    assert played.sizes[:3] == [200, 435, 500]


def test_blocks_learned_late_do_not_move_the_start(tools):
    played = tools.play(
        guide(tools, blocks=1000), tools.read_curve(lambda b: 1000.0 - abs(b - 300)), blocks=2176
    )
    assert played.sizes[0] == 200
    assert played.finish.settings.max_batch_size == 300


def test_readings_that_cannot_be_told_apart_are_taken_again_and_then_the_smaller_is_kept(tools):
    played = tools.play(guide(tools), tools.read_curve(lambda b: 1000.0 if b < 700 else 800.0))
    assert played.sizes.count(435) == 2
    assert played.sizes.count(500) == 2
    assert played.finish.settings.max_batch_size == 435
    assert played.finish.reason == "throughput stopped rising"


def test_one_dip_in_the_noise_is_no_drop(tools):
    speeds = {435: [1000.0], 500: [990.0, 1060.0], 600: [1100.0], 700: [900.0]}
    seen = {}

    def read(launch, move):
        size = launch.settings.max_batch_size
        seen[size] = seen.get(size, -1) + 1
        return tools.measured(move.concurrency, speeds[size][min(seen[size], len(speeds[size]) - 1)], 0.03)

    played = tools.play(guide(tools), read)
    assert played.finish.settings.max_batch_size == 600


def test_a_start_that_fails_for_memory_twice_goes_down_and_never_up_again(tools):
    played = tools.play(
        guide(tools),
        tools.read_curve(lambda b: 10.0 * b),
        lambda launch: LaunchCause.MEMORY if launch.settings.max_batch_size > 350 else None,
    )
    assert played.sizes == [435, 435, 400, 400, 300]
    assert played.finish.settings.max_batch_size == 300


def test_a_refused_value_is_not_launched_again(tools):
    played = tools.play(
        guide(tools),
        tools.read_curve(lambda b: 10.0 * b),
        lambda launch: LaunchCause.CONFIG if launch.settings.max_batch_size > 550 else None,
    )
    assert played.sizes == [435, 500, 600]
    assert played.finish.reason == "600 cannot be measured"


def test_a_value_that_dies_under_load_twice_ends_the_climb(tools):
    def read(launch, move):
        size = launch.settings.max_batch_size
        return LaunchCause.CRASHED if size > 450 else tools.measured(move.concurrency, 10.0 * size)

    played = tools.play(guide(tools), read)
    assert played.sizes == [435, 500, 500]
    assert played.finish.settings.max_batch_size == 435


def test_a_small_start_goes_down_by_halves(tools):
    played = tools.play(
        guide(tools, blocks=400),
        tools.read_curve(lambda b: 10.0 * b),
        lambda launch: LaunchCause.MEMORY if launch.settings.max_batch_size > 25 else None,
    )
    assert played.sizes == [80, 80, 40, 40, 20]


def test_the_upper_bound_is_the_last_rung(tools):
    played = tools.play(guide(tools, bounds_high=550), tools.read_curve(lambda b: 10.0 * b))
    assert played.sizes == [435, 500, 550]
    assert played.finish.reason == "the upper bound is reached"


def test_rungs_lie_on_the_grid(tools):
    grid = tuple(range(8, 2000, 8))
    played = tools.play(guide(tools, grid=grid), tools.read_curve(vendor_like))
    assert played.sizes == [432, 504, 600]


def vendor_like(size):
    return {432: 2845.3, 504: 2980.3, 600: 2520.6}[size]


def test_an_invalid_level_is_taken_once_more_in_the_same_launch(tools):
    calls = []

    def read(launch, move):
        calls.append(launch.settings.max_batch_size)
        if len(calls) == 1:
            return Invalid(concurrency=move.concurrency, reason=InvalidReason.STALLED)
        return tools.measured(move.concurrency, VENDOR[launch.settings.max_batch_size])

    played = tools.play(guide(tools), read)
    assert played.sizes == [435, 500, 600]
    assert calls == [435, 435, 500, 600]


@pytest.mark.parametrize("incumbent", [None, Settings(max_batch_size=200)])
def test_nothing_but_invalid_levels_is_not_measurable(tools, incumbent):
    def read(_, move):
        return Invalid(concurrency=move.concurrency, reason=InvalidReason.REQUESTS_FAILED)

    played = tools.play(guide(tools, incumbent=incumbent), read)
    assert (played.finish.code, played.finish.settings) == (VerdictCode.NOT_MEASURABLE, None)
    assert len(played.sizes) <= 4


def test_a_used_budget_names_the_best_so_far(tools):
    played = tools.play(guide(tools), tools.read_curve(float), launches=3)
    assert played.finish.settings.max_batch_size == 600
    assert played.finish.reason == "the budget is used"
