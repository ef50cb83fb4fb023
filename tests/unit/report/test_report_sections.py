from dataclasses import replace

import pytest

from autotune.model.move import VerdictCode
from autotune.report.curve import curve_plot
from autotune.report.parts import Note
from autotune.report.predictions import Extras, Prediction
from autotune.report.sections import build
from autotune.report.tables import Table
from autotune.report.texts.languages import language

from . import example_campaigns as examples

EN = language("en")


def part_of(campaign, name, extras=None):
    """Parts of one section."""
    report = build(campaign, EN, extras or Extras())
    return next((section.parts for section in report.sections if section.name == name), ())


def highlighted(campaign):
    plot = curve_plot(campaign, EN)
    assert plot is not None
    return [mark.name for mark in plot.marks if mark.best]


@pytest.mark.parametrize(
    ("campaign", "word", "changes"),
    [
        (examples.guide(), "Recommended 500", True),
        (examples.incumbent_stays(), "Stays: 435", False),
        (examples.interrupted(), "Best so far: 500", False),
        (examples.ended_as(VerdictCode.INTERRUPTED), "Best so far: 500", False),
        (examples.ended_as(VerdictCode.LIMIT_UNMET), "Best so far: 500", False),
        (examples.ended_as(VerdictCode.EQUAL_SMALLER), "Recommended 500", True),
    ],
)
def test_only_what_is_proven_is_recommended(campaign, word, changes):
    assert highlighted(campaign) == [word]
    (part,) = part_of(campaign, "changes")
    assert isinstance(part, Table if changes else Note)


def test_an_unconfirmed_value_is_marked_in_the_first_figures():
    tiles = build(examples.interrupted(), EN, Extras()).tiles
    assert (tiles[0].value, tiles[0].remark) == ("500", "not confirmed")
    tiles = build(examples.ended_as(VerdictCode.INTERRUPTED), EN, Extras()).tiles
    assert (tiles[2].value, tiles[2].remark) == ("+4.7 %", "not confirmed")


def test_first_figures_are_setting_speed_gain_and_effort():
    tiles = build(examples.guide(), EN, Extras()).tiles
    assert [(tile.value, tile.remark) for tile in tiles] == [
        ("500", "Found on the host: 435"),
        ("2,982.5", "tokens/s, ± 0.6 %"),
        ("+4.7 %", "3.9 to 5.5 %"),
        ("1 h 10 min", "5 launches"),
    ]


def test_a_prediction_is_held_against_the_mean_of_its_launches():
    extras = Extras(
        predictions=(
            Prediction(max_batch_size=600, tokens_per_second=2800.0, half_width=0.03),
            Prediction(max_batch_size=500, tokens_per_second=2940.0, half_width=0.03),
            Prediction(max_batch_size=999, tokens_per_second=1.0, half_width=0.03),
        )
    )
    (table,) = part_of(examples.guide(), "predicted", extras)
    shown = [(row[0].text, row[3].text, row[4].text, row[4].tone) for row in table.rows]
    assert shown == [("500", "2,985.9", "+1.6 %", "good"), ("600", "2,520.6", "-10.0 %", "bad")]


def test_a_sweep_is_no_reading_of_its_setting():
    table = part_of(examples.with_failures(), "launches")[0]
    sweep = table.rows[1]
    assert sweep[1].remark == "near the top of the bracket, to sweep concurrency"
    assert sweep[4].text == "6 levels"
    assert {cell.text for cell in sweep[5:9]} == {"–"}


def test_what_failed_launches_said_is_shown():
    failures = part_of(examples.with_failures(), "launches")[1]
    assert [row[2].text for row in failures.rows] == ["out of memory", "port in use"]
    assert failures.rows[0][3].text == "RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB"


def test_levels_that_do_not_count_are_counted():
    note, table = part_of(examples.with_failures(), "validity")
    assert note.text == "1 of 11 levels did not pass and are not used anywhere."
    results = [row[-1].text for row in table.rows]
    assert "stalled: no token for 60 s" in results
    assert "valid; ended by its time cap; connection reset × 2" in results


def test_the_whole_run_reading_is_what_the_vendors_tool_prints():
    _, table = part_of(examples.guide(), "whole-run")
    first = [cell.text for cell in table.rows[0]]
    assert first == ["1", "435", "1,000", "2,845.3", "2,475.4", "-13.0 %", "2.4754"]


def test_vllm_has_no_vendor_procedure_and_its_own_names():
    assert part_of(examples.vllm(), "vendor") == ()
    (table,) = part_of(examples.vllm(), "changes")
    assert [row[0].text for row in table.rows] == ["--max-num-seqs"]


def test_a_campaign_without_launches_has_no_empty_sections():
    report = build(replace(examples.guide(), launches=(), decisions=(), verdict=None), EN, Extras())
    assert {section.name for section in report.sections} == {
        "changes",
        "curve",
        "environment",
        "apply",
        "profile",
    }
