from dataclasses import replace

import pytest

from autotune.model.because import Because
from autotune.model.move import VerdictCode
from autotune.report.curve import curve_plot
from autotune.report.launch_tables import times_table
from autotune.report.limits import profile_ceiling
from autotune.report.parts import Note, Times
from autotune.report.sections import build
from autotune.report.tables import Table
from autotune.report.texts.languages import language

from . import example_campaigns as examples
from .stored_campaigns import stored

EN = language("en")


def part_of(campaign, name, ceiling=None):
    """Parts of one section."""
    report = build(campaign, EN, ceiling=ceiling)
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
    assert isinstance(part_of(campaign, "changes")[0], Table if changes else Note)


def test_an_unconfirmed_value_is_marked_in_the_first_figures():
    tiles = build(examples.interrupted(), EN).tiles
    assert (tiles[0].value, tiles[0].remark) == ("500", "not confirmed")
    tiles = build(examples.ended_as(VerdictCode.INTERRUPTED), EN).tiles
    assert (tiles[2].value, tiles[2].remark) == ("+4.7 %", "not confirmed")


def test_first_figures_are_setting_speed_gain_and_effort():
    tiles = build(examples.guide(), EN).tiles
    assert [(tile.value, tile.remark) for tile in tiles] == [
        ("500", "Found on the host: 435"),
        ("2,982.5", "tokens/s, ± 0.6 %"),
        ("+4.7 %", "3.9 to 5.5 %"),
        ("1 h 10 min", "5 launches"),
    ]


def test_a_prediction_is_held_against_the_launch_it_was_made_for():
    note, table = part_of(examples.with_failures(), "predicted")
    assert note.text.startswith("1 of 2 readings lay in the 95 % interval")
    shown = [[cell.text for cell in row] for row in table.rows]
    assert shown == [
        ["4", "500", "2,940.0 ± 3.0 %", "2,980.3", "+1.4 %", "yes"],
        ["5", "540", "2,990.0 ± 0.8 %", "2,961.0", "-1.0 %", "no"],
    ]


def test_a_strategy_that_predicts_nothing_has_no_such_section():
    assert part_of(examples.guide(), "predicted") == ()


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
    assert note.text.startswith(
        "1 of 11 levels did not pass and are not used anywhere. Each was checked for: "
    )
    assert "Little's law" in note.text
    results = [row[-1].text for row in table.rows]
    assert "stalled: no token for 60 s" in results
    assert "valid; ended by its time cap; connection reset × 2" in results


def test_the_whole_run_reading_is_what_the_vendors_tool_prints():
    _, table = part_of(examples.guide(), "whole-run")
    first = [cell.text for cell in table.rows[0]]
    assert first == ["1", "435", "1,000", "2,845.3", "2,475.4", "-13.0 %", "2.4754"]


def test_vllm_has_no_vendor_procedure_and_its_own_names():
    assert part_of(examples.vllm(), "vendor") == ()
    table = part_of(examples.vllm(), "changes")[0]
    assert [row[0].text for row in table.rows] == ["--max-num-seqs"]


def test_a_campaign_without_launches_has_no_empty_sections():
    report = build(replace(examples.guide(), launches=(), decisions=(), verdict=None), EN)
    assert {section.name for section in report.sections} == {
        "changes",
        "curve",
        "environment",
        "apply",
        "profile",
    }


def test_the_curve_is_told_in_a_sentence_before_it_is_drawn():
    first = part_of(examples.guide(), "curve")[0]
    assert first.leads
    assert first.text == (
        "Throughput rises up to 500 and is surely lower from 600 on."
        " The service preempted requests from 600 on."
    )


def test_preemptions_of_the_setting_found_are_not_denied_by_the_sentence_on_the_candidates():
    """The setting found preempted at 22 with other prefill limits; the candidates from 30 on."""
    parts = part_of(stored("emulated_mindie"), "curve")
    assert parts[0].text.endswith("With the other settings tried, the service preempted requests from 30 on.")


@pytest.mark.parametrize(("name", "told"), [("emulated_mindie", True), ("vllm_cpu", False)])
def test_whose_time_the_figures_are_in_is_said_where_the_two_differ(name, told):
    texts = [part.text for part in part_of(stored(name), "launches") if isinstance(part, Note)]
    assert ("40 times as fast as the service it stands for" in " ".join(texts)) == told


def test_a_ceiling_is_compared_with_and_drawn_where_it_is_near():
    campaign = examples.guide()
    assert part_of(campaign, "curve", 3400.0)[-1].text == (
        "Static test of the bare model: 3,400.0 tokens/s; the best value serves 87.7 % of it."
    )
    near, far = (curve_plot(campaign, EN, ceiling) for ceiling in (3400.0, 9000.0))
    assert [rule.y for rule in near.rules] == [None, 3400.0]
    assert [rule.y for rule in far.rules] == [None]


def test_the_ceiling_of_the_profile_is_taken():
    text = examples.PROFILE + "report: {ceiling: 3400}\n"
    assert profile_ceiling(replace(examples.guide(), profile_text=text)) == 3400.0
    for other in ("report: {ceiling: fast}", "report: 3", "{", ""):
        assert profile_ceiling(replace(examples.guide(), profile_text=other)) is None


def test_what_is_known_of_host_and_service_stands_in_tables_of_their_own():
    tables = part_of(examples.with_failures(), "environment")
    assert [table.name for table in tables] == ["Run", "Service", "Host"]


def test_the_time_of_every_launch_is_split():
    times = part_of(examples.guide(), "launches")[-1]
    assert isinstance(times, Times)
    row = [cell.text for cell in times_table(times, EN).rows[0]]
    assert row == ["1", "2 min 28 s", "22 s", "10 min 12 s", "11 s", "13 min 13 s"]


def test_a_decision_has_its_code_beside_its_words():
    base = examples.guide()
    coded = replace(base.decisions[1], because=Because.NEXT_STEP)
    (table,) = part_of(replace(base, decisions=(base.decisions[0], coded)), "decisions")
    assert [row[2].full_text for row in table.rows] == [
        "the setting found on the host",
        "next multiple of 100: next_step",
    ]
