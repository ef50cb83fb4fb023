import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.report.figures import (
    CHINESE_STYLE,
    ENGLISH_STYLE,
    duration,
    milliseconds,
    moment,
    percent,
    percent_range,
    rate,
    whole,
)


@pytest.mark.parametrize(
    ("fraction", "english", "chinese"),
    [
        (0.047, "+4.7 %", "+4.7%"),
        (-0.154, "-15.4 %", "-15.4%"),
        (-0.0001, "+0.0 %", "+0.0%"),
        (None, "–", "–"),
    ],
)
def test_a_gain_carries_its_sign(fraction, english, chinese):
    assert percent(fraction, ENGLISH_STYLE, signed=True) == english
    assert percent(fraction, CHINESE_STYLE, signed=True) == chinese


@pytest.mark.parametrize(
    ("low", "high", "english", "chinese"),
    [
        (0.039, 0.055, "3.9 to 5.5 %", "3.9%～5.5%"),
        (0.039, None, "≥ 3.9 %", "≥ 3.9%"),
        (None, 0.055, "≤ 5.5 %", "≤ 5.5%"),
        (None, None, "–", "–"),
    ],
)
def test_an_interval_shows_the_ends_that_are_known(low, high, english, chinese):
    assert percent_range(low, high, ENGLISH_STYLE) == english
    assert percent_range(low, high, CHINESE_STYLE) == chinese


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (4.25, "4.2 s", "4.2 秒"),
        (42.4, "42 s", "42 秒"),
        (95, "1 min 35 s", "1 分 35 秒"),
        (600, "10 min", "10 分"),
        (6900, "1 h 55 min", "1 小时 55 分"),
        (7200, "2 h", "2 小时"),
        (None, "–", "–"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds, english, chinese):
    assert duration(seconds, ENGLISH_STYLE) == english
    assert duration(seconds, CHINESE_STYLE) == chinese


@given(st.floats(0, 1e7))
def test_no_duration_shows_sixty_of_a_unit(seconds):
    shown = duration(seconds, ENGLISH_STYLE)
    assert " 60 " not in f" {shown} "


def test_counts_rates_and_latencies_are_grouped():
    assert (rate(2980.34), whole(118), milliseconds(58231.6), milliseconds(60.19)) == (
        "2,980.3",
        "118",
        "58,232",
        "60.2",
    )
    assert rate(None) == whole(None) == milliseconds(None) == "–"


def test_a_moment_is_the_same_on_every_host():
    assert moment(1_796_032_800.0) == "2026-11-30 10:00 UTC"
    assert moment(None) == "–"
