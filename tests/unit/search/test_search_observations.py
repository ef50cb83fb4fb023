"""Rows of a history: what ran counts, not what the clients sent; counters show where the blocks are full."""

import numpy as np
import pytest

from autotune.model.bracket import Bracket
from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.settings import Settings
from autotune.search.belief import believe
from autotune.search.observations import Observations, Row, observe

BRACKET = Bracket(low=362, start=435, high=1088, start_prefill=217, blocks=2176, source="log")


@pytest.fixture
def history(tools):
    """A restart at 400 in which 360 run in the mean, and a sweep under 1,000 whose blocks are full at 550."""

    def level(concurrency, running, preemptions):
        return tools.measured(concurrency, 1000.0, running_mean=running, preemptions=preemptions)

    restart = LaunchRecord(
        number=1,
        purpose=Purpose.CANDIDATE,
        settings=Settings(max_batch_size=400),
        outcome=Outcome.ENDED,
        levels=(level(1306, 360.0, 0),),
    )
    sweep = LaunchRecord(
        number=2,
        purpose=Purpose.SCOUT,
        settings=Settings(max_batch_size=1000),
        outcome=Outcome.ENDED,
        levels=(level(300, 288.0, 0), level(600, 540.0, 900), level(800, 550.0, 2000)),
    )
    return History(launches=(restart, sweep))


def test_a_sweep_level_stands_for_the_restart_that_runs_as_many(tools, history):
    """288 of 300 ran; a restart at 320 would run 90 % of 320. Full blocks leave the level where it is."""
    found = observe(history, tools.space(tune_prefill=False))
    assert [row.size for row in found.sweep] == [320, 600, 800]
    assert [row.concurrency for row in found.sweep] == [300, 600, 800]


def test_the_knee_is_what_ran_where_the_blocks_were_full(tools, history):
    found = observe(history, tools.space(tune_prefill=False))
    assert found.knee == 550.0
    assert found.unfilled == 360.0


def test_without_counters_levels_stand_for_themselves(tools):
    launch = LaunchRecord(
        number=1,
        purpose=Purpose.SCOUT,
        settings=Settings(max_batch_size=1000),
        levels=(tools.measured(300, 1000.0),),
    )
    found = observe(History(launches=(launch,)), tools.space())
    assert [row.size for row in found.sweep] == [300]
    assert (found.knee, found.unfilled) == (None, 0.0)


def test_a_counted_knee_moves_the_belief_of_where_the_best_is():
    sizes = tuple(range(362, 1089, 22))
    rows = (Row(size=435, log_speed=8.0, error=0.01, launch=1, swept=False, foreign=False),)

    def best(knee):
        seen = Observations(rows=rows, works_at=1088, fails_at=None, starts_failed=0, knee=knee)
        draws = believe(seen, sizes, BRACKET, 1).draws
        return np.median([sizes[index] for index in draws.argmax(axis=1)])

    assert best(450.0) < 0.7 * best(800.0)
