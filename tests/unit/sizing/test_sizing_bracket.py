"""The bracket of the vendor's worked example, and the laws that every bracket keeps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import UsageError
from autotune.model.bracket import RequestBlocks
from autotune.sizing.bracket import bracket, bracket_terms, prefill_batch, prefill_tokens, request_blocks

GUIDE = request_blocks(input_tokens=186, output_tokens=346, max_output_tokens=512)


def test_the_guides_example_takes_two_five_and_six_blocks():
    assert RequestBlocks(min_blocks=2, mean_blocks=5, max_blocks=6) == GUIDE


def test_the_guides_example_is_searched_from_362_to_1088_starting_at_435():
    found = bracket(blocks=2176, request=GUIDE, source="formula")
    assert (found.low, found.start, found.high, found.start_prefill) == (362, 435, 1088, 217)
    assert (found.blocks, found.source) == (2176, "formula")


def test_one_reserved_block_lowers_only_the_top():
    # MindIE 3.x keeps the last block for empty requests
    found = bracket(blocks=2175, request=GUIDE, source="log")
    assert (found.low, found.start, found.high) == (362, 435, 1087)


def test_the_later_vendor_page_reads_90_to_272_with_its_544_blocks():
    found = bracket(blocks=544, request=GUIDE, source="formula")
    assert (found.low, found.start, found.high) == (90, 108, 272)


def test_the_case_that_fell_to_72_running_requests_has_72_as_its_low():
    # MindIE troubleshooting guide: 1747 blocks, 1024 in, 2048 out
    request = request_blocks(input_tokens=1024, output_tokens=2048, max_output_tokens=2048)
    assert bracket(blocks=1747, request=request, source="log").low == 72


def test_every_step_is_a_printable_term():
    terms = bracket_terms(blocks=2176, input_tokens=186, output_tokens=346, max_output_tokens=512)
    assert [str(term) for term in terms] == [
        "min_blocks = ceil(186 / 128) = 2",
        "mean_blocks = ceil(186 / 128) + ceil(346 / 128) = 5",
        "max_blocks = ceil(186 / 128) + ceil(512 / 128) = 6",
        "low = floor(2176 / 6) = 362",
        "start = floor(2176 / 5) = 435",
        "high = floor(2176 / 2) = 1,088",
        "start_prefill = floor(435 / 2) = 217",
    ]


def test_a_quotient_that_would_be_0_is_shown_as_the_1_that_it_becomes():
    terms = bracket_terms(blocks=10, input_tokens=5000, output_tokens=346, max_output_tokens=512)
    assert [str(term) for term in terms[3:5]] == [
        "low = max(1, floor(10 / 44)) = 1",
        "start = max(1, floor(10 / 43)) = 1",
    ]


@pytest.mark.parametrize(("batch", "half"), [(435, 217), (500, 250), (600, 300), (1, 1), (2, 1), (3, 1)])
def test_a_halved_prefill_batch_is_never_zero(batch, half):
    assert prefill_batch(batch) == half


def test_prefill_tokens_stay_between_the_longest_prompt_and_8192():
    assert prefill_tokens(prefill_batch=217, mean_input_tokens=186, max_input_token_len=2048) == 8192
    assert prefill_tokens(prefill_batch=20, mean_input_tokens=186, max_input_token_len=2048) == 3720
    assert prefill_tokens(prefill_batch=2, mean_input_tokens=186, max_input_token_len=2048) == 2048
    assert prefill_tokens(prefill_batch=2, mean_input_tokens=186, max_input_token_len=16384) == 16384


def test_impossible_lengths_and_blocks_are_refused():
    with pytest.raises(UsageError, match="above the longest"):
        request_blocks(input_tokens=1, output_tokens=10, max_output_tokens=9)
    with pytest.raises(UsageError, match="above zero"):
        request_blocks(input_tokens=0, output_tokens=10, max_output_tokens=10)
    with pytest.raises(UsageError, match="hold no request"):
        bracket(blocks=0, request=GUIDE, source="profile")


@given(
    blocks=st.integers(1, 10**6),
    prompt=st.integers(1, 10**5),
    mean=st.integers(1, 10**4),
    more=st.integers(0, 10**4),
    block_size=st.sampled_from([16, 32, 64, 128]),
)
def test_low_start_and_high_stand_in_this_order(blocks, prompt, mean, more, block_size):
    request = request_blocks(
        input_tokens=prompt, output_tokens=mean, max_output_tokens=mean + more, block_size=block_size
    )
    found = bracket(blocks=blocks, request=request, source="log")
    assert 1 <= found.low <= found.start <= found.high
    assert 1 <= found.start_prefill <= found.start


@given(blocks=st.integers(1, 10**6), extra=st.integers(0, 10**5))
def test_more_blocks_never_lower_the_bracket(blocks, extra):
    less = bracket(blocks=blocks, request=GUIDE, source="log")
    more = bracket(blocks=blocks + extra, request=GUIDE, source="log")
    assert (less.low, less.start, less.high) <= (more.low, more.start, more.high)
    assert less.low <= more.low
    assert less.high <= more.high
