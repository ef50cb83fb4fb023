"""The grid strategy: what it reads, and what it reads again."""

from autotune.model.move import VerdictCode
from autotune.model.settings import Settings
from autotune.search.options import Options
from autotune.search.strategy import make_strategy


def grid(tools, step=100, **space):
    return make_strategy("grid", tools.space(**space), Options(step=step))


def hill(size):
    return 1000.0 - abs(size - 700)


def test_every_step_of_the_bracket_is_read_once_and_the_leader_again(tools):
    played = tools.play(grid(tools), tools.read_curve(hill))
    assert sorted(set(played.sizes)) == [400, 500, 600, 700, 800, 900, 1000]
    assert played.sizes.count(700) == 2
    assert played.finish.settings.max_batch_size == 700
    assert played.finish.code is VerdictCode.IMPROVED


def test_a_grid_that_the_budget_does_not_hold_is_thinned_evenly(tools):
    played = tools.play(grid(tools, step=10), tools.read_curve(hill), launches=5)
    assert played.sizes == [370, 540, 720, 900, 1080]
    assert played.finish.settings.max_batch_size == 720


def test_a_step_wider_than_the_bracket_leaves_the_start(tools):
    played = tools.play(grid(tools, step=5000), tools.read_curve(hill))
    assert set(played.sizes) == {435}


def test_room_for_one_launch_reads_the_start(tools):
    assert tools.play(grid(tools), tools.read_curve(hill), launches=1).sizes == [435]


def test_the_winner_is_confirmed_against_the_incumbent(tools):
    strategy = grid(tools, incumbent=Settings(max_batch_size=200))
    played = tools.play(strategy, tools.read_curve(hill))
    assert played.purposes[0] == "incumbent"
    assert played.purposes[-2:] == ["confirmation", "confirmation"]
    assert played.finish.settings.max_batch_size in {600, 700, 800}
