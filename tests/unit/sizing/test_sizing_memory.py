"""Memory for the cache by the vendor's formula, and the blocks that it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import UsageError
from autotune.sizing.memory import blocks_in, blocks_term, npu_memory_gib
from autotune.units import GiB


def test_llama3_8b_on_two_cards_of_32_gib_leaves_17():
    # MindIE performance tuning guide: floor((32 - 3 - 15/2) * 0.8) = floor(17.2)
    found = npu_memory_gib(card_gib=32, used_gib=3, weights_gib=15, cards=2)
    assert found.gib == 17
    assert [term.name for term in found.terms] == ["weights_on_card_gib", "free_gib", "npu_memory_gib"]


def test_llama_65b_on_eight_cards_of_64_gib_leaves_34():
    # MindIE 1.0.RC1 guide: floor((64 - 3 - 130/8 - 2) * 0.8)
    found = npu_memory_gib(card_gib=64, used_gib=3, weights_gib=130, cards=8, post_processing_gib=2)
    assert found.gib == 34


def test_a_product_that_is_whole_is_not_rounded_down():
    assert npu_memory_gib(card_gib=30, used_gib=0, weights_gib=8.75, cards=1).gib == 17


def test_seventeen_gib_hold_2176_blocks_of_eight_mebibytes():
    assert blocks_in(17 * GiB, 8_388_608) == 2176
    assert str(blocks_term(17 * GiB, 8_388_608)) == "blocks = floor(18253611008 / 8388608) = 2,176"


def test_the_later_page_gets_544_from_a_block_four_times_too_large():
    assert blocks_in(17 * GiB, 33_554_432) == 544


def test_a_model_that_fills_the_cards_is_refused():
    with pytest.raises(UsageError, match="leave none") as caught:
        npu_memory_gib(card_gib=32, used_gib=3, weights_gib=140, cards=4)
    assert "--tp" in caught.value.hint
    with pytest.raises(UsageError, match="hold no model"):
        npu_memory_gib(card_gib=32, used_gib=3, weights_gib=140, cards=0)
    with pytest.raises(UsageError, match="hold no block"):
        blocks_in(100, 101)


@given(memory=st.integers(1, 10**12), size=st.integers(1, 10**9))
def test_the_blocks_fit_and_one_more_would_not(memory, size):
    if memory < size:
        return
    blocks = blocks_in(memory, size)
    assert blocks * size <= memory < (blocks + 1) * size
