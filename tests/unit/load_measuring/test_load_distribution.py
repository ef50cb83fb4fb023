"""Percentiles, from single values and from folded gaps."""

import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.load.client.gaps import GapCounts
from autotune.load.measuring.distribution import enough, of_gaps, of_seconds
from autotune.model.measurement import Distribution


def test_the_percentiles_of_a_hundred_steps():
    values = of_seconds([number / 1000 for number in range(101)])
    assert values == Distribution(
        mean=50.0, p50=50.0, p75=75.0, p90=pytest.approx(90.0), p99=pytest.approx(99.0)
    )


@pytest.mark.parametrize(
    ("samples", "share", "carried"), [(99, 0.99, False), (100, 0.99, True), (9, 0.9, False)]
)
def test_a_percentile_needs_a_sample_beyond_it(samples, share, carried):
    assert enough(samples, share) is carried


def test_nothing_gives_nothing():
    assert of_seconds([]) == Distribution()
    assert of_gaps([]) == Distribution()


@given(st.lists(st.floats(0.0005, 5.0), min_size=100, max_size=400), st.floats(1.0, 30.0))
def test_folded_gaps_are_within_three_thousandths_of_the_single_ones(gaps, scale):
    counts = GapCounts(slice_seconds=5.0)
    counts.fold(array("d", gaps), 0.0)
    folded, single = of_gaps(counts.slices, scale=scale), of_seconds(gaps, scale=scale)
    assert folded.mean == pytest.approx(single.mean)
    ordered = sorted(gaps)
    for share, value in ((0.5, folded.p50), (0.9, folded.p90), (0.99, folded.p99)):
        place = share * (len(gaps) - 1)
        low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
        assert 1000 * scale * low * 0.997 <= value <= 1000 * scale * high * 1.003


def test_events_that_shared_a_read_have_a_gap_of_zero():
    counts = GapCounts(slice_seconds=5.0)
    counts.fold(array("d", [0.0] * 60 + [0.1] * 40), 0.0)
    values = of_gaps(counts.slices)
    assert values.p50 == 0.0
    assert values.p90 == pytest.approx(100.0, rel=0.01)
    assert values.mean == pytest.approx(40.0)


def test_slices_keep_the_ramp_apart():
    counts = GapCounts(slice_seconds=5.0)
    for now, gap in ((0.0, 1.0), (4.9, 1.0), (5.0, 0.1), (9.0, 0.1)):
        counts.fold(array("d", [gap]), now)
    assert [part.start for part in counts.slices] == [0.0, 5.0]
    assert of_gaps(counts.slices[1:]).mean == pytest.approx(100.0)
