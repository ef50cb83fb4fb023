"""Data sets of token counts."""

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import UsageError
from autotune.simulator.lengths import Lengths, LengthShape, Request, synthetic_lengths


@given(
    mean=st.floats(2, 400),
    room=st.floats(1.0, 4.0),
    spread=st.floats(0.0, 1.2),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=50, deadline=None)
def test_the_mean_is_kept_below_any_maximum(mean, room, spread, seed):
    shape = LengthShape(
        input_tokens=50,
        output_tokens=mean,
        max_output_tokens=int(mean * room) + 1,
        output_spread=spread,
    )
    lengths = synthetic_lengths(shape, count=100, seed=seed)
    assert lengths.mean_output == pytest.approx(mean, abs=0.1)
    assert max(request.output_tokens for request in lengths.requests) <= shape.max_output_tokens
    assert min(request.output_tokens for request in lengths.requests) >= 1


def test_the_vendor_s_example_has_186_tokens_in_and_346_out():
    lengths = synthetic_lengths(LengthShape(input_tokens=186, output_tokens=346, max_output_tokens=512))
    assert len(lengths.requests) == 1319
    assert lengths.mean_prompt == pytest.approx(186, abs=0.5)
    assert lengths.mean_output == pytest.approx(346, abs=0.5)


def test_the_same_seed_gives_the_same_data_set():
    shape = LengthShape(input_tokens=10, output_tokens=20, max_output_tokens=40)
    assert synthetic_lengths(shape, count=50, seed=3) == synthetic_lengths(shape, count=50, seed=3)
    assert synthetic_lengths(shape, count=50, seed=3) != synthetic_lengths(shape, count=50, seed=4)


def test_a_mean_at_the_maximum_makes_all_replies_that_long():
    shape = LengthShape(input_tokens=10, output_tokens=64, max_output_tokens=64)
    assert {request.output_tokens for request in synthetic_lengths(shape, count=20).requests} == {64}


def test_a_data_set_is_looped_in_order():
    lengths = Lengths((Request(1, 2), Request(3, 4)))
    assert [request.prompt_tokens for request in islice(lengths.endless(), 5)] == [1, 3, 1, 3, 1]
    assert lengths.longest == 7


def test_impossible_lengths_are_refused():
    with pytest.raises(UsageError, match="between 1 and the maximum"):
        synthetic_lengths(LengthShape(input_tokens=1, output_tokens=65, max_output_tokens=64))
    with pytest.raises(UsageError, match="at least one"):
        Lengths(())
