"""The belief and the choice: laws that hold whatever is observed."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.model.bracket import Bracket
from autotune.search.belief import believe
from autotune.search.candidates import candidate_sizes
from autotune.search.choice import chance_to_run, choose
from autotune.search.family import draw_family, log_speeds
from autotune.search.observations import Observations, Row

BRACKET = Bracket(low=362, start=435, high=1088, start_prefill=217, blocks=2176, source="log")
SIZES = tuple(range(362, 1089, 22))


def row(size, speed, launch, *, swept=False, error=0.005):
    return Row(size=size, log_speed=math.log(speed), error=error, launch=launch, swept=swept, foreign=False)


def seen(*rows, works_at=1088, fails_at=None, starts_failed=0):
    return Observations(rows=rows, works_at=works_at, fails_at=fails_at, starts_failed=starts_failed)


def test_the_same_observations_give_the_same_draws():
    observations = seen(row(435, 2845.3, 1), row(500, 2980.3, 2))
    first = believe(observations, SIZES, BRACKET, 1).draws.copy()
    believe.cache_clear()
    assert np.array_equal(first, believe(observations, SIZES, BRACKET, 1).draws)


def test_draws_go_through_what_was_read():
    observations = seen(row(428, 2845.3, 2), row(494, 2980.3, 3), row(604, 2520.6, 4))
    posterior = believe(observations, SIZES, BRACKET, 1)
    means = dict(zip(SIZES, np.exp(posterior.draws.mean(axis=0)), strict=True))
    assert means[494] == pytest.approx(2980.3, rel=0.015)
    assert means[604] == pytest.approx(2520.6, rel=0.03)


def test_a_reading_narrows_what_is_believed_around_it():
    wide = believe(seen(row(428, 2845.3, 2)), SIZES, BRACKET, 1).draws
    narrow = believe(seen(row(428, 2845.3, 2), row(802, 2500.0, 3)), SIZES, BRACKET, 1).draws
    at = SIZES.index(802)
    assert narrow[:, at].std() < 0.3 * wide[:, at].std()


def test_a_launch_that_is_off_is_not_believed_against_all_others():
    rows = [row(size, 3000.0, number) for number, size in enumerate((406, 428, 450, 472, 494), start=2)]
    posterior = believe(seen(*rows, row(450, 2650.0, 9)), SIZES, BRACKET, 1)
    assert math.exp(posterior.draws[:, SIZES.index(450)].mean()) == pytest.approx(3000.0, rel=0.02)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    points=st.lists(
        st.tuples(st.sampled_from(SIZES), st.floats(10.0, 1e5), st.booleans()), min_size=1, max_size=14
    )
)
def test_whatever_is_read_the_draws_are_finite_and_the_choice_is_a_size(points):
    rows = [
        row(size, speed, 2 if swept else number, swept=swept)
        for number, (size, speed, swept) in enumerate(points, start=3)
    ]
    observations = seen(*rows)
    posterior = believe(observations, SIZES, BRACKET, 1)
    assert np.isfinite(posterior.draws).all()
    choice = choose(posterior, observations, margin=0.01, tie=0.002, forbidden=frozenset())
    assert choice.following in SIZES
    assert choice.best is None or choice.best in observations.restarted
    assert 0.0 <= choice.missed <= 1.0


def test_what_is_forbidden_is_neither_tried_nor_recommended():
    observations = seen(row(428, 3000.0, 2), row(494, 2000.0, 3))
    posterior = believe(observations, SIZES, BRACKET, 1)
    forbidden = frozenset(size for size in SIZES if size < 450)
    choice = choose(posterior, observations, margin=0.01, tie=0.002, forbidden=forbidden)
    assert choice.best == 494
    assert choice.following not in forbidden


@given(works=st.integers(1, 500), gap=st.integers(1, 500), failed=st.integers(0, 3))
def test_the_chance_to_run_falls_from_what_works_to_what_fails(works, gap, failed):
    observations = seen(works_at=works, fails_at=works + gap, starts_failed=failed)
    sizes = np.arange(1.0, works + gap + 10.0)
    chance = chance_to_run(observations, sizes)
    assert (chance[sizes <= works] == 1.0).all()
    assert (chance[sizes >= works + gap] == 0.0).all()
    assert (np.diff(chance) <= 1e-12).all()


@given(seed=st.integers(0, 100))
def test_curves_of_the_family_are_finite_and_rise_no_faster_than_their_load(seed):
    rng = np.random.default_rng(seed)
    family = draw_family(BRACKET, 50, rng)
    sizes = np.geomspace(1.0, 2000.0, 60)
    curves = log_speeds(family, sizes, BRACKET)
    assert np.isfinite(curves).all()
    assert (np.diff(curves, axis=1) <= np.log(2.0) + 0.15).all()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(low=st.integers(1, 400), grow=st.floats(1.0, 3.0), wide=st.floats(1.0, 20.0))
def test_candidates_are_few_ascending_and_hold_the_bracket(tools, low, grow, wide):
    space = tools.space()
    start = space.nearest(low * grow)
    high = space.nearest(start * wide)
    bracket = Bracket(low=low, start=start, high=high, start_prefill=1, blocks=1, source="log")
    sizes = candidate_sizes(space, bracket, (3,))
    assert list(sizes) == sorted(set(sizes))
    assert {low, start, high, 3} <= set(sizes)
    assert len(sizes) <= 420
