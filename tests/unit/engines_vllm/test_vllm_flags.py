"""Flags of vLLM are found in every spelling that its parser takes."""

import pytest

from autotune.engines.vllm.flags import Flag, number_of, text_of, texts_of
from autotune.errors import Refused

SEQS = Flag.MAX_NUM_SEQS


@pytest.mark.parametrize(
    "words",
    [
        ["--max-num-seqs", "256"],
        ["--max-num-seqs=256"],
        ["--max_num_seqs", "256"],
        ["--max_num_seqs=256"],
        ["--max-num-seqs=8", "--seed", "1", "--max_num_seqs", "256"],
    ],
)
def test_every_spelling_is_read_and_the_last_one_counts(words):
    assert number_of(words, SEQS) == 256


@pytest.mark.parametrize(("text", "number"), [("4k", 4000), ("4K", 4096), ("1.5k", 1500), ("8192", 8192)])
def test_numbers_with_units_are_read_as_vllm_reads_them(text, number):
    assert number_of(["--max-num-batched-tokens", text], Flag.MAX_NUM_BATCHED_TOKENS) == number


@pytest.mark.parametrize("words", [["--max-num-seqs"], ["--max-num-seqs", "$N"], ["--max-num-seqs=1.5"]])
def test_a_value_that_is_no_number_is_refused_and_never_guessed(words):
    with pytest.raises(Refused, match="--max-num-seqs"):
        number_of(words, SEQS)


def test_an_absent_flag_has_no_value():
    assert number_of(["--max-num-seqs-x=3"], SEQS) is None
    assert text_of([], Flag.HOST) is None


def test_a_flag_without_a_value_takes_no_other_flag_for_it():
    assert text_of(["--enable-chunked-prefill", "--seed", "1"], Flag.ENABLE_CHUNKED_PREFILL) is None


def test_a_flag_may_have_several_values():
    words = ["--served-model-name", "a", "b", "--seed", "1"]
    assert texts_of(words, Flag.SERVED_MODEL_NAME) == ("a", "b")
