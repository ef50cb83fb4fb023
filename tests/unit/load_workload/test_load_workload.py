"""Lengths, words, salting and the endless row of prompts."""

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import UsageError
from autotune.load.workload.lengths import Fixed, Gaussian, Uniform, Zipf, natural
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.synthetic import SyntheticSpec, synthetic_prompts
from autotune.load.workload.token_count import estimated_tokens
from autotune.load.workload.words import WordPool
from autotune.load.workload.workload import Workload


@given(st.floats(1, 2000), st.floats(1, 4))
def test_natural_lengths_have_the_mean_that_was_asked_for(mean, ratio):
    high = int(mean * ratio) + 2
    lengths = natural(mean, low=1, high=high)
    source = random.Random(1)
    drawn = [lengths.draw(source) for _ in range(4000)]
    assert min(drawn) >= 1
    assert max(drawn) <= high
    assert statistics.fmean(drawn) == pytest.approx(mean, rel=0.06, abs=1)


def test_a_mean_outside_its_bounds_is_no_distribution():
    with pytest.raises(ValueError, match="mean"):
        natural(500, low=1, high=400)


@given(st.integers(1, 300), st.integers(0, 300), st.integers(0, 2**32), st.floats(0.5, 3.0))
def test_no_distribution_leaves_its_bounds(low, span, seed, alpha):
    high = low + span
    source = random.Random(seed)
    for lengths in (
        Uniform(low=low, high=high),
        Gaussian(mean=low, variance=400.0, low=low, high=high),
        Zipf(alpha=alpha, low=low, high=high),
        Zipf(alpha=1.0, low=low, high=high),
    ):
        assert low <= lengths.draw(source) <= high


def test_zipf_favours_the_short_ones():
    source = random.Random(1)
    drawn = [Zipf(alpha=1.5, low=10, high=1000).draw(source) for _ in range(3000)]
    assert statistics.median(drawn) < 30


@given(st.integers(8, 3000), st.integers(0, 2**32))
def test_synthetic_text_counts_right_by_words_and_by_characters(tokens, seed):
    text = WordPool(random.Random(seed)).text_of(tokens)
    assert len(text.split()) == pytest.approx(tokens / 1.3, abs=1)
    assert len(text) == pytest.approx(4 * tokens, rel=0.05, abs=12)


def test_the_same_seed_makes_the_same_prompts_and_another_one_others():
    spec = SyntheticSpec(
        input_tokens=Fixed(tokens=20), output_tokens=Uniform(low=1, high=99), count=20, seed=5
    )
    assert synthetic_prompts(spec) == synthetic_prompts(spec)
    other = SyntheticSpec(
        input_tokens=Fixed(tokens=20), output_tokens=Uniform(low=1, high=99), count=20, seed=6
    )
    assert synthetic_prompts(spec) != synthetic_prompts(other)


def test_later_passes_begin_with_another_token_so_that_no_cache_knows_them():
    load = Workload(prompts=(Prompt(text="hello"), Prompt(text="world")), max_output_tokens=9)
    first_words = [load.prompt(index).text.split()[0] for index in (0, 2, 4)]
    assert first_words[0] == "hello"
    assert len(set(first_words)) == 3


@given(st.lists(st.integers(0, 31999), min_size=1, max_size=20), st.integers(0, 2000))
def test_salted_token_ids_keep_their_length(ids, turn):
    load = Workload(prompts=(Prompt(token_ids=tuple(ids)),), max_output_tokens=9)
    salted = load.prompt(turn).token_ids
    assert len(salted) == len(ids)
    assert salted[1:] == tuple(ids)[1:]


def test_unsalted_passes_are_all_the_same():
    load = Workload(prompts=(Prompt(text="hello"),), max_output_tokens=9, salted=False)
    assert load.prompt(0) == load.prompt(7)


def test_no_request_asks_for_more_than_the_workload_allows():
    load = Workload(prompts=(Prompt(text="a", output_tokens=99), Prompt(text="b")), max_output_tokens=50)
    assert [load.asked_tokens(index) for index in range(3)] == [50, 50, 50]


def test_an_empty_data_set_is_refused():
    with pytest.raises(UsageError):
        Workload(prompts=(), max_output_tokens=5)


def test_chinese_counts_more_tokens_a_character_than_english():
    assert estimated_tokens("你好世界你好") == 4
    assert estimated_tokens("hello world, hello world") == 6
