"""Laws of every strategy whatever the readings are: in its budget, inside its bounds, repeatable."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import LaunchCause, UsageError
from autotune.model.launch import Outcome, Purpose
from autotune.model.measurement import Invalid, InvalidReason
from autotune.model.move import Finish, Launch, Measure, VerdictCode
from autotune.model.settings import Settings
from autotune.search.options import Options
from autotune.search.strategy import NAMES, make_strategy

CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10_000),
        "launches": st.integers(1, 14),
        "noise": st.sampled_from([0.0, 0.02, 0.3]),
        "fails": st.sampled_from([0.0, 0.1, 0.5, 1.0]),
        "incumbent": st.sampled_from([None, 40, 435, 2000]),
        "grid": st.sampled_from([(), (8, 64, 256, 384, 512, 768), (400,)]),
        "step": st.sampled_from([1, 30, 100]),
    }
)


def adversary(tools, case):
    """A service that fails, lies and dies at random."""
    rng = random.Random(case["seed"])

    def start(_):
        return rng.choice(list(LaunchCause)) if rng.random() < case["fails"] / 2 else None

    def read(launch, move):
        if rng.random() < case["fails"] / 2:
            reason = rng.choice(list(InvalidReason))
            return rng.choice([Invalid(concurrency=move.concurrency, reason=reason), LaunchCause.CRASHED])
        size = min(launch.settings.max_batch_size, move.concurrency)
        return tools.measured(
            move.concurrency, (size / (size + 200.0)) * 3000.0 * rng.lognormvariate(0.0, case["noise"])
        )

    return read, start


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_strategy_ends_inside_budget_bounds_and_grid_and_repeats_itself(name, tools):
    @settings(max_examples=25 if name == "scout" else 80, deadline=None)
    @given(case=CASES)
    def law(case):
        incumbent = case["incumbent"] and Settings(max_batch_size=case["incumbent"])
        space = tools.space(incumbent=incumbent or None, grid=case["grid"], bounds_low=2)
        options = Options(step=case["step"], max_launches=case["launches"])
        read, start = adversary(tools, case)
        played = tools.play(make_strategy(name, space, options), read, start, launches=case["launches"])
        check(space, played, case["launches"])
        again = make_strategy(name, space, options)
        for history, move in played.steps:
            if not isinstance(move, Measure):
                assert again.next_move(as_stored(history)) == move
        assert [again.next_move(history) for history, _ in played.steps] == [move for _, move in played.steps]

    law()


def as_stored(history):
    """What a store knows after the fact: the launch that ran when the decision was made has ended."""
    ended = tuple(
        replace(each, outcome=Outcome.ENDED) if each.outcome is Outcome.PENDING else each
        for each in history.launches
    )
    return replace(history, launches=ended)


def check(space, played, budget):
    assert len(played.history.launches) <= budget
    for _, move in played.steps:
        if isinstance(move, Launch) and move.settings != space.incumbent:
            size = move.settings.max_batch_size
            assert space.bounds_low <= size <= space.highest
            assert not space.grid or size in space.grid
            assert move.settings == space.settings_for(size)
    sides = [each.settings for each in played.history.launches if each.purpose is Purpose.CONFIRMATION]
    assert all(sides.count(side) <= 6 for side in sides)
    recommended(space, played)


def recommended(space, played):
    finish = played.finish
    assert isinstance(finish, Finish)
    assert finish.reason
    assert (finish.settings is None) == (finish.code is VerdictCode.NOT_MEASURABLE)
    if finish.settings is not None:
        assert any(launch.measurements for launch in played.history.of(finish.settings))
    if finish.code is VerdictCode.INCUMBENT_BEST:
        assert finish.settings == space.incumbent


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_memory_edge_is_stepped_on_at_most_twice_a_value(name, tools):
    strategy = make_strategy(name, tools.space(incumbent=Settings(max_batch_size=200)), Options())
    played = tools.play(
        strategy,
        tools.read_curve(float),
        lambda each: LaunchCause.MEMORY if each.settings.max_batch_size > 520 else None,
    )
    over = [size for size in played.sizes if size > 520]
    assert all(over.count(size) <= 2 for size in over)
    assert len(over) <= 4
    assert played.finish.code is VerdictCode.IMPROVED


def test_an_unknown_strategy_is_named_with_the_known_ones(tools):
    with pytest.raises(UsageError, match="no strategy named") as raised:
        make_strategy("best", tools.space(), Options())
    assert "guide" in raised.value.hint
