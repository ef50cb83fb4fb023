"""Numbers and documents of other programs: what a reader may rely on, found by fuzzing the readers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.foreign import MOST_DIGITS, json_value, real, whole


@given(st.integers(0, 10**MOST_DIGITS - 1))
def test_a_count_is_read_with_and_without_commas(number):
    assert whole(str(number)) == whole(f"{number:,}") == number


@pytest.mark.parametrize("text", ["", "-1", "1.5", "NA", "²", "9" * (MOST_DIGITS + 1), "9" * 5000])
def test_what_is_no_count_is_none(text):
    assert whole(text) is None


@pytest.mark.parametrize("text", ["", "nan", "inf", "1e400", "9" * 400, "1.2.3", ".", "-", "0x1"])
def test_what_is_no_number_is_none(text):
    assert real(text) is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_as_it_was_written(number):
    assert real(repr(number)) == number


def test_a_document_that_is_nested_too_deeply_is_none():
    with pytest.raises(ValueError, match="deep"):
        json_value("[" * 100_000)
