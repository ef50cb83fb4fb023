"""Space: bounds, grid, bracket and the setting that goes with a batch size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import UsageError
from autotune.model.bracket import RequestBlocks
from autotune.model.settings import Settings
from autotune.search.space import Space


@st.composite
def spaces(draw):
    low = draw(st.integers(1, 50))
    high = draw(st.integers(low, 5000))
    concurrency = draw(st.integers(low, 5000))
    inside = st.integers(low, min(high, concurrency))
    grid = draw(st.one_of(st.just(()), st.lists(inside, min_size=1, max_size=12).map(tuple)))
    return Space(
        incumbent=draw(st.none() | inside.map(lambda size: Settings(max_batch_size=size))),
        request=RequestBlocks(min_blocks=1, mean_blocks=3, max_blocks=5),
        mean_input_tokens=186.0,
        max_input_token_len=2048,
        bounds_low=low,
        bounds_high=high,
        grid=grid,
        concurrency=concurrency,
        blocks=draw(st.integers(1, 20000)),
    )


def allowed(space, size):
    return space.bounds_low <= size <= space.highest and (not space.grid or size in space.grid)


@given(space=spaces(), size=st.floats(-10.0, 1e5))
def test_whatever_is_asked_for_what_comes_is_allowed(space, size):
    assert allowed(space, space.nearest(size))
    above, below = space.at_least(size), space.at_most(size)
    assert above is None or (allowed(space, above) and above >= size)
    assert below is None or (allowed(space, below) and below <= size)


@given(space=spaces(), blocks=st.none() | st.integers(1, 50000))
def test_the_bracket_is_ordered_and_allowed(space, blocks):
    found = space.bracket(blocks)
    assert found.low <= found.start <= found.high
    assert all(allowed(space, size) for size in (found.low, found.start, found.high))


def test_the_bracket_of_the_vendors_example(tools):
    found = tools.space().bracket()
    assert (found.low, found.start, found.high, found.start_prefill) == (362, 435, 1088, 217)
    assert (found.blocks, found.source) == (2176, "formula")


def test_reported_blocks_win(tools):
    found = tools.space().bracket(1088)
    assert (found.start, found.blocks, found.source) == (217, 1088, "log")


def test_without_blocks_the_bracket_lies_around_the_incumbent(tools):
    found = tools.space(blocks=None, incumbent=Settings(max_batch_size=200)).bracket()
    assert (found.low, found.start, found.high, found.source) == (50, 200, 800, "incumbent")


def test_without_blocks_and_incumbent_the_user_is_asked(tools):
    with pytest.raises(UsageError, match="neither KV blocks"):
        tools.space(blocks=None).bracket()


def test_prefill_follows_the_batch(tools):
    settings = tools.space().settings_for(435)
    assert (settings.max_prefill_batch_size, settings.max_prefill_tokens) == (217, 8192)


def test_vllm_has_no_prefill_batch(tools):
    assert tools.space(tune_prefill=False).settings_for(64) == Settings(max_batch_size=64)


def test_shared_values_go_with_every_candidate(tools):
    shared = Settings(max_batch_size=1, support_select_batch=True, decode_time_ms_per_req=40)
    settings = tools.space(shared=shared).settings_for(500)
    assert (settings.max_batch_size, settings.support_select_batch, settings.decode_time_ms_per_req) == (
        500,
        True,
        40,
    )


def test_a_limit_that_the_clients_cannot_fill_is_not_tried(tools):
    assert tools.space(concurrency=700).highest == 700


@pytest.mark.parametrize("changes", [{"bounds_low": 50, "bounds_high": 40}, {"grid": (7000,)}])
def test_a_space_without_a_value_is_refused(tools, changes):
    with pytest.raises(UsageError):
        tools.space(**changes)
