"""The interval of a short window: what it sees of a slow wander, and what changes nothing."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.statistics.intervals import batch_means_interval
from autotune.statistics.wander import values_a_group, wander_interval


def speeds(seed, *, wander, noise=0.01, count=30, seconds=1.0, constant=20.0):
    """Means over `seconds` each of a speed of 1 that wanders, plus white noise."""
    source = random.Random(seed)
    keep = math.exp(-seconds / constant)
    drift, values = source.gauss(0.0, wander), []
    for _ in range(count):
        drift = keep * drift + source.gauss(0.0, wander * math.sqrt(1.0 - keep * keep))
        values.append(1.0 + drift + source.gauss(0.0, noise))
    return values


def held(interval, runs, wander):
    found = [
        (sum(values) / len(values), values) for values in (speeds(n, wander=wander) for n in range(runs))
    ]
    return sum(abs(mean - 1.0) <= interval(values).half_width for mean, values in found)


def test_a_window_as_long_as_the_wander_holds_the_truth_where_batch_means_miss_it():
    assert held(lambda values: wander_interval(values, 1.0), 100, wander=0.03) >= 92
    assert held(batch_means_interval, 100, wander=0.03) < 75


def test_a_speed_that_does_not_wander_is_known_soon():
    quiet = wander_interval(speeds(1, wander=0.0), 1.0).half_width
    restless = wander_interval(speeds(1, wander=0.03), 1.0).half_width
    assert quiet < 0.02 < restless


@settings(max_examples=25, deadline=None)
@given(
    values=st.lists(st.floats(1.0, 1e4), min_size=3, max_size=20),
    factor=st.floats(0.01, 1e3),
    seconds=st.floats(0.05, 5.0),
)
def test_the_unit_and_the_direction_of_time_change_nothing(values, factor, seconds):
    one = wander_interval(values, seconds).relative
    assert wander_interval([factor * value for value in values], seconds).relative == pytest.approx(
        one, rel=1e-3, abs=1e-9
    )
    assert wander_interval(values[::-1], seconds).relative == pytest.approx(one, rel=1e-3, abs=1e-9)


def test_a_window_of_a_second_is_unsure_but_not_beyond_reason():
    """As when a few requests end within a second: lumps of whole steps in buckets of 0.05 s."""
    source = random.Random(2)
    lumps = [float(source.randint(1, 3)) for _ in range(20)]
    assert 0.1 < wander_interval(lumps, 0.05).relative < 1.0


def test_values_that_are_all_the_same_leave_no_doubt():
    assert wander_interval([5.0] * 10, 1.0).half_width == 0.0
    assert wander_interval([0.0] * 10, 1.0).relative == math.inf


def test_two_values_are_too_few():
    with pytest.raises(ValueError, match="at least three"):
        wander_interval([1.0, 2.0], 1.0)


def test_tokens_that_come_in_steps_of_a_whole_batch_do_not_widen_it():
    """A step every 0.12 s: 8 or 9 of them in each second, and exactly as many as there are in all."""
    steps = [sum(second <= 0.12 * step < second + 1.0 for step in range(300)) for second in range(24)]
    source = random.Random(1)
    scattered = source.sample(steps, len(steps))
    assert set(steps) == {8, 9}
    assert wander_interval(steps, 1.0).relative < 0.7 * batch_means_interval(scattered).relative


@pytest.mark.parametrize(
    ("count", "seconds", "group"), [(20, 0.5, 1), (48, 0.5, 2), (2400, 0.5, 10), (90, 20.0, 1)]
)
def test_values_are_taken_together_up_to_5_s(count, seconds, group):
    assert values_a_group(count, seconds) == group
