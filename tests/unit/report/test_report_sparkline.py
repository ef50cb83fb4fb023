from hypothesis import given
from hypothesis import strategies as st

from autotune.report.sparkline import ASCII, BLOCKS, sparkline

SPEEDS = st.lists(st.floats(0, 1e6), max_size=40)


@given(SPEEDS, st.booleans())
def test_a_sign_for_each_of_the_last_values(values, ascii_only):
    shown = sparkline(values, ascii_only=ascii_only)
    assert len(shown) == min(len(values), 20)
    assert set(shown) <= set(ASCII if ascii_only else BLOCKS)


@given(SPEEDS.filter(lambda values: len(set(values[-20:])) > 1))
def test_the_lowest_and_the_highest_value_are_seen(values):
    shown = sparkline(values)
    assert shown[values[-20:].index(max(values[-20:]))] == "█"
    assert shown[values[-20:].index(min(values[-20:]))] == "▁"


def test_equal_values_are_level():
    assert sparkline([3.0, 3.0]) == "▅▅"
    assert sparkline([]) == ""


def test_noise_does_not_fill_the_height():
    assert sparkline([1000.0, 1002.0], least_span=0.1) in {"▄▅", "▅▅"}
    assert sparkline([1000.0, 500.0], least_span=0.1) == "█▁"
