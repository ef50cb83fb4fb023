"""Lengths of prompts and replies: the same for the same prompt, and right on the whole."""

from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as some

from autotune.emulator import vocabulary
from autotune.emulator.ask import Ask, ReplyLengths, count_tokens, hash_ids, hash_text
from autotune.emulator.faults import Faults
from autotune.emulator.streams import plan_reply
from autotune.simulator.lengths import LengthShape
from autotune.simulator.rules import MindieRules

SHAPE = LengthShape(input_tokens=186, output_tokens=346, max_output_tokens=512, output_spread=0.95)


def natural(count=6000, shape=SHAPE, seed=1):
    lengths = ReplyLengths(shape, seed)
    return [lengths.natural(hash_text(f"question {number}", seed)) for number in range(count)]


def test_the_mean_after_the_cut_is_the_presets():
    assert mean(min(tokens, 512) for tokens in natural()) == pytest.approx(346, rel=0.02)


def test_a_prompt_always_gets_the_same_length_and_another_seed_another():
    assert natural(50) == natural(50)
    assert natural(50) != natural(50, seed=2)


@pytest.mark.parametrize(
    ("text", "tokens"), [("a", 1), ("abcd", 1), ("abcde", 2), ("鸡蛋", 2), ("word " * 10, 13)]
)
def test_four_bytes_make_a_token(text, tokens):
    assert count_tokens(text) == tokens


@given(some.text(), some.integers(0, 2**40))
def test_the_hash_of_a_prompt_fits_32_bits(text, seed):
    assert 0 <= hash_text(text, seed) < 2**32


def test_ids_in_another_order_are_another_prompt():
    assert hash_ids([1, 2], 1) != hash_ids([2, 1], 1)


def ask(**given_values):
    values = {"identity": "x", "prompt": "", "prompt_tokens": 100, "prompt_hash": 7, "max_tokens": 512}
    return Ask(**(values | given_values))


def plan(asked, faults=None, draw=lambda: 0.5, **rules):
    lengths = ReplyLengths(SHAPE, 1)
    return plan_reply(asked, MindieRules(blocks=1000, **rules), lengths, faults or Faults(), draw)


def test_with_ignore_eos_a_reply_has_exactly_the_asked_number():
    for prompt_hash in range(20):
        made = plan(ask(prompt_hash=prompt_hash, exact=True, max_tokens=300))
        assert (made.tokens, made.reason) == (300, "length")


def test_a_reply_is_capped_by_max_iter_times_and_by_max_seq_len():
    assert plan(ask(exact=True, max_tokens=4000)).tokens == 512
    assert plan(ask(exact=True, max_tokens=4000, prompt_tokens=2500), max_seq_len=2560).tokens == 60


@given(some.integers(0, 2**32 - 1), some.integers(1, 2000))
def test_an_end_of_sequence_is_claimed_only_below_the_cap(prompt_hash, most):
    made = plan(ask(prompt_hash=prompt_hash, max_tokens=most))
    assert 1 <= made.tokens <= min(most, 512)
    assert (made.reason == "eos_token") == (made.tokens < min(most, 512))


def test_min_tokens_holds_the_end_back():
    assert all(plan(ask(prompt_hash=number, min_tokens=500)).tokens >= 500 for number in range(30))


def test_faults_shorten_and_cut():
    short = plan(ask(exact=True, max_tokens=100), Faults(short_rate=1.0))
    assert (short.tokens, short.reason) == (50, "eos_token")
    assert plan(ask(exact=True, max_tokens=100), Faults(truncate_rate=1.0)).cut_after == 50
    assert plan(ask(exact=True, max_tokens=100), Faults(truncate_rate=0.4)).cut_after is None


@given(some.integers(0, 2**32 - 1), some.integers(1, 900))
def test_the_text_of_a_reply_is_the_text_of_its_tokens(start, tokens):
    text = "".join(vocabulary.token_text(start, position) for position in range(tokens))
    assert vocabulary.reply_text(start, tokens) == text


def test_every_token_is_written_with_as_many_characters():
    assert {len(text) for text in vocabulary.TEXTS} == {4}
    assert len(set(vocabulary.TEXTS)) == vocabulary.SIZE
    assert all(1000 <= number <= 1255 for number in vocabulary.token_ids(5, 600))
