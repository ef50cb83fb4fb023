from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from autotune.report.curve import curve_plot
from autotune.report.evidence import PointKind
from autotune.report.plot import Scale, padded, ticks
from autotune.report.texts.languages import language

from . import example_campaigns as examples

EN = language("en")
VALUES = st.floats(0.001, 1e6)


@given(VALUES, VALUES, st.integers(2, 12))
def test_ticks_are_round_lie_inside_and_are_about_as_many_as_wanted(low, width, wanted):
    assume(width > 1e-6 * low)
    found = ticks(low, low + width, wanted)
    assert len(found.values) <= wanted + 1
    assert all(low - 1e-6 * width <= value <= low + width + 1e-6 * width for value in found.values)
    assert len(set(found.texts())) == len(found.values)


@given(st.lists(VALUES, min_size=1, max_size=20))
def test_padding_leaves_every_value_inside_and_never_goes_below_zero(values):
    low, high = padded(values, 0.1)
    assert low < high
    assert 0.0 <= low <= min(values)
    assert max(values) <= high


@given(VALUES)
def test_a_scale_puts_what_is_outside_on_the_edge(value):
    scale = Scale(low=10.0, high=20.0, start=0.0, end=100.0)
    assert 0.0 <= scale(value) <= 100.0
    assert (scale(10.0), scale(15.0), scale(20.0)) == (0.0, 50.0, 100.0)


def test_nothing_to_show_still_has_an_axis():
    assert padded([], 0.1) == (0.0, 1.0)


def test_the_curve_marks_found_and_recommended():
    plot = curve_plot(examples.guide(), EN)
    assert plot is not None
    named = {mark.name: mark.best for mark in plot.marks if mark.name}
    assert named == {"Found on the host 435": False, "Recommended 500": True}
    assert [rule.x for rule in plot.rules] == [435.0]
    assert plot.band is not None
    assert (plot.band.low, plot.band.high) == (362.0, 1088.0)
    assert [mark.flagged for mark in plot.marks] == [False, False, True, False, False]


def test_launches_of_one_value_stand_beside_each_other():
    plot = curve_plot(examples.guide(), EN)
    assert plot is not None
    assert plot.marks[1].x == 500.0
    assert 500.0 < plot.marks[3].x < 505.0


def test_sweep_and_restarts_are_told_apart_and_failures_have_a_place():
    plot = curve_plot(examples.with_failures(), EN)
    assert plot is not None
    assert {trace.kind for trace in plot.traces} == {PointKind.SWEEP, PointKind.CANDIDATE}
    assert [cross.x for cross in plot.crosses] == [1000.0, 500.0]
    assert "a sweep" in plot.x_label


def test_a_bracket_far_above_the_data_does_not_squeeze_it():
    plot = curve_plot(examples.guide(), EN)
    assert plot is not None
    assert plot.x_range[1] < 900


def test_without_readings_there_is_no_curve():
    campaign = examples.interrupted()
    assert curve_plot(replace(campaign, launches=()), EN) is None


def test_an_interval_wider_than_its_reading_does_not_draw_negative_throughput():
    campaign = examples.guide()
    first = campaign.launches[0]
    wide = replace(first, levels=tuple(replace(level, half_width=1.2) for level in first.levels))
    plot = curve_plot(replace(campaign, launches=(wide, *campaign.launches[1:])), EN)
    assert plot is not None
    assert plot.y_range[0] == 0.0
