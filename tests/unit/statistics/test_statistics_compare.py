"""Comparison of launches: error rates as stated, and the laws of a ratio."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.statistics.compare import (
    SPREAD_FLOOR,
    LaunchReading,
    Spread,
    compare,
    launch_spread,
    mean_reading,
)

READINGS = st.lists(
    st.builds(
        LaunchReading,
        tokens_per_second=st.floats(100.0, 1e5),
        half_width=st.floats(0.0, 0.2),
    ),
    min_size=1,
    max_size=4,
)


def launches(rng, count, *, speed=3000.0, own=0.005, spread=0.004):
    return [
        LaunchReading(
            tokens_per_second=speed * math.exp(rng.gauss(0.0, math.hypot(own, spread))), half_width=1.96 * own
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize(("count", "spread"), [(1, 0.004), (2, 0.004), (4, 0.004)])
def test_equal_settings_are_told_apart_in_at_most_one_of_twenty(count, spread):
    rng = random.Random(count)
    false = sum(
        compare(launches(rng, count, spread=spread), launches(rng, count, spread=spread)).better
        for _ in range(2000)
    )
    assert false <= 0.065 * 2000


@pytest.mark.slow
def test_a_spread_beyond_the_prior_is_mostly_noticed():
    rng = random.Random(4)
    false = sum(
        compare(launches(rng, 4, spread=0.01), launches(rng, 4, spread=0.01)).better for _ in range(2000)
    )
    assert false <= 0.09 * 2000


def test_a_real_gain_is_found():
    rng = random.Random(5)
    found = sum(compare(launches(rng, 2), launches(rng, 2, speed=3090.0)).better for _ in range(500))
    assert found >= 450


def test_the_readings_of_the_guide_rise_and_drop():
    """435: 2845.3, 500: 2980.3, 600: 2520.6 token/s, from the vendor's tuning guide, at +-1 % each."""
    at = {
        b: [LaunchReading(tokens_per_second=v, half_width=0.01)]
        for b, v in {435: 2845.3, 500: 2980.3, 600: 2520.6}.items()
    }
    assert compare(at[435], at[500]).better
    assert compare(at[500], at[600]).worse
    assert compare(at[435], at[500]).gain == pytest.approx(0.0474, abs=1e-4)
    assert compare(at[500], at[600]).gain == pytest.approx(-0.1542, abs=1e-4)


@given(first=READINGS, second=READINGS)
def test_sides_swapped_is_the_inverse_ratio(first, second):
    there, back = compare(first, second), compare(second, first)
    assert (1.0 + there.gain) * (1.0 + back.gain) == pytest.approx(1.0)
    assert (1.0 + there.low) * (1.0 + back.high) == pytest.approx(1.0, rel=1e-6)
    assert there.better == back.worse


@given(first=READINGS, second=READINGS, low=st.floats(0.51, 0.99), high=st.floats(0.51, 0.99))
def test_the_gain_lies_inside_and_confidence_widens(first, second, low, high):
    narrow = compare(first, second, confidence=min(low, high))
    wide = compare(first, second, confidence=max(low, high))
    assert wide.low - 1e-9 <= narrow.low <= narrow.gain <= narrow.high <= wide.high + 1e-9 * (1 + wide.high)


@pytest.mark.slow
@given(first=READINGS, second=READINGS, margin=st.floats(0.0, 0.1))
def test_equivalence_is_both_one_sided_tests(first, second, margin):
    result = compare(first, second)
    assert result.equivalent(margin) == (result.not_worse(margin) and result.high < margin)


@given(sides=st.lists(READINGS, max_size=3))
def test_the_spread_is_never_below_its_floor(sides):
    assert launch_spread(sides).value >= SPREAD_FLOOR


def test_single_launches_leave_the_spread_at_its_prior():
    assert launch_spread([[LaunchReading(tokens_per_second=1.0, half_width=0.01)]]) == Spread()


def test_scatter_beyond_the_launches_own_errors_is_spread():
    rng = random.Random(2)
    sides = [launches(rng, 30, own=0.002, spread=0.03) for _ in range(4)]
    assert launch_spread(sides).value == pytest.approx(0.03, rel=0.15)


@given(side=READINGS)
def test_a_mean_reading_is_no_surer_than_the_spread_allows(side):
    reading = mean_reading(side)
    assert reading.half_width >= 1.95 * SPREAD_FLOOR / math.sqrt(len(side))
    values = [each.tokens_per_second for each in side]
    assert min(values) * 0.999 <= reading.tokens_per_second <= max(values) * 1.001


def test_nothing_cannot_be_compared():
    reading = LaunchReading(tokens_per_second=1.0, half_width=0.01)
    with pytest.raises(ValueError, match="each side"):
        compare([], [reading])
    with pytest.raises(ValueError, match="positive"):
        compare([reading], [LaunchReading(tokens_per_second=0.0, half_width=0.01)])
    with pytest.raises(ValueError, match="no launch"):
        mean_reading([])
