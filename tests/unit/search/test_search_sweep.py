"""The levels of a sweep, on their own."""

import math

from hypothesis import given
from hypothesis import strategies as st

from autotune.search.observations import Row
from autotune.search.sweep import MOST_LEVELS, next_level


def swept(curve, *, start, low, limit):
    rows, levels = (), []
    while (level := next_level(rows, start=start, low=low, limit=limit)) is not None:
        levels.append(level)
        rows = (
            *rows,
            Row(
                size=level, log_speed=math.log(curve(level)), error=0.01, launch=2, swept=True, foreign=False
            ),
        )
        assert len(levels) <= MOST_LEVELS
    return levels


@given(
    start=st.integers(1, 3000),
    low=st.integers(1, 100),
    above=st.integers(0, 4000),
    speeds=st.lists(st.floats(1.0, 1e4), min_size=8, max_size=8),
)
def test_levels_stay_inside_end_and_repeat_the_first_only(start, low, above, speeds):
    limit = low + above
    given_speeds = iter(speeds)
    levels = swept(lambda _: next(given_speeds), start=start, low=low, limit=limit)
    assert all(low <= level <= limit for level in levels)
    assert len(set(levels)) >= len(levels) - 1
    assert len(levels) == 1 or levels[-1] == levels[0]


def test_the_peak_is_enclosed():
    levels = swept(lambda b: 1000.0 - abs(b - 500), start=435, low=1, limit=1088)
    assert min(levels) < 435
    assert any(450 <= level <= 560 for level in levels)
    assert max(levels) > 600


def test_a_curve_that_falls_from_the_low_end_is_followed_down():
    levels = swept(lambda b: 1000.0 / b, start=435, low=20, limit=1088)
    assert min(levels) <= 128


def test_a_second_rise_at_the_limit_is_seen():
    levels = swept(lambda b: 1000.0 - abs(b - 100), start=90, low=1, limit=1088)
    assert 1088 in levels


def test_one_possible_value_is_one_level():
    assert swept(lambda _: 5.0, start=4, low=4, limit=4) == [4, 4]
