from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.campaign.nightly.window import seconds_left

NIGHT, ACROSS = (120, 300), (1380, 60)


@pytest.mark.parametrize(
    ("window", "hour", "minute", "left"),
    [
        (NIGHT, 2, 0, 3 * 3600),
        (NIGHT, 4, 59, 60),
        (NIGHT, 5, 0, None),
        (NIGHT, 1, 59, None),
        (NIGHT, 12, 0, None),
        (ACROSS, 23, 0, 2 * 3600),
        (ACROSS, 0, 30, 1800),
        (ACROSS, 1, 0, None),
        (None, 12, 0, float("inf")),
    ],
)
def test_a_late_catch_up_finds_the_window_closed(window, hour, minute, left):
    assert seconds_left(window, datetime(2026, 3, 1, hour, minute)) == left  # noqa: DTZ001 - local time is meant


@given(st.integers(0, 1439), st.integers(1, 1439), st.integers(0, 86399))
def test_the_window_is_open_for_its_length_a_day(begin, length, second):
    window = (begin, (begin + length) % 1440)
    now = datetime(2026, 3, 1) + timedelta(seconds=second)  # noqa: DTZ001 - local time is meant
    left = seconds_left(window, now)
    inside = (second - begin * 60) % 86400 < length * 60
    assert (left is not None) == inside
    assert left is None or 0 < left <= length * 60
