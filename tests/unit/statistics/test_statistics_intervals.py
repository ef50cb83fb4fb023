"""Batch means: coverage without and with correlation, and laws of the interval."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.statistics.intervals import batch_means_interval, lag1_correlation, merged

SPEEDS = st.lists(st.floats(10.0, 1e5), min_size=2, max_size=60)


def wandering(rng, length, *, phi, sd):
    value, values = rng.gauss(0.0, sd), []
    for _ in range(length):
        value = phi * value + rng.gauss(0.0, sd * math.sqrt(1.0 - phi * phi))
        values.append(100.0 + value)
    return values


@pytest.mark.parametrize(
    ("phi", "length", "at_least"), [(0.0, 10, 185), (0.0, 40, 185), (0.3, 128, 185), (0.6, 256, 180)]
)
def test_the_interval_holds_the_truth_as_often_as_it_says(phi, length, at_least):
    rng = random.Random(7)
    held = 0
    for _ in range(200):
        interval = batch_means_interval(wandering(rng, length, phi=phi, sd=1.0))
        held += abs(interval.mean - 100.0) <= interval.half_width
    assert held >= at_least


@given(values=SPEEDS, factor=st.floats(0.01, 100.0))
def test_another_unit_changes_only_the_unit(values, factor):
    one = batch_means_interval(values)
    other = batch_means_interval([factor * value for value in values])
    assert other.mean == pytest.approx(factor * one.mean, rel=1e-9)
    assert other.half_width == pytest.approx(factor * one.half_width, rel=1e-4, abs=1e-6 * other.mean)


@given(values=SPEEDS)
def test_more_confidence_is_never_narrower(values):
    assert (
        batch_means_interval(values, confidence=0.99).half_width
        >= batch_means_interval(values, confidence=0.9).half_width
    )


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=80))
def test_a_correlation_stays_a_correlation(values):
    assert -1.0 <= lag1_correlation(values) <= 1.0


def test_equal_batches_have_no_width():
    interval = batch_means_interval([5.0] * 12)
    assert (interval.half_width, interval.lag1, interval.relative) == (0.0, 0.0, 0.0)


def test_a_mean_of_zero_has_no_relative_width():
    assert batch_means_interval([-1.0, 1.0]).relative == math.inf


def test_slow_wander_merges_pairs_and_widens():
    rng = random.Random(3)
    values = wandering(rng, 64, phi=0.9, sd=1.0)
    plain = 2.0 * math.sqrt(sum((v - sum(values) / 64) ** 2 for v in values) / 63 / 64)
    interval = batch_means_interval(values)
    assert interval.batches < 64
    assert interval.half_width > 2.0 * plain


def test_merging_keeps_what_is_nearest_to_the_end():
    assert merged([9.0, 1.0, 3.0, 5.0, 7.0]) == [2.0, 6.0]


def test_one_batch_is_no_interval():
    with pytest.raises(ValueError, match="two batches"):
        batch_means_interval([1.0])
