import math
from dataclasses import replace

from autotune.model.launch import Outcome, Purpose
from autotune.report.curve import shape_text
from autotune.report.texts.chinese import CHINESE
from autotune.report.texts.english import ENGLISH
from autotune.report.values import setting_values, shape

from . import example_campaigns as examples
from .stored_campaigns import stored


def of(*pairs, sweep=()):
    """A campaign with one restart for each (batch, tokens a second, half width, preemptions)."""
    launches = [
        examples.launch(
            at, Purpose.CANDIDATE, batch, examples.level(batch, rate, half_width=width, preemptions=lost)
        )
        for at, (batch, rate, width, lost) in enumerate(pairs, start=1)
    ]
    if sweep:
        levels = [
            examples.level(900, rate, half_width=width, running=at, preemptions=lost)
            for at, rate, width, lost in sweep
        ]
        launches.append(examples.launch(len(launches) + 1, Purpose.SCOUT, 900, *levels))
    return replace(examples.guide(), launches=tuple(launches), verdict=None)


def test_launches_of_one_setting_are_one_value_with_a_narrower_interval():
    values = setting_values(examples.guide())
    assert [(value.batch, len(value.levels)) for value in values] == [(435, 2), (500, 2), (600, 1)]
    assert values[0].tokens_per_second == (2845.3 + 2851.9) / 2
    assert values[0].half_width == math.hypot(0.01, 0.01) / 2


def test_a_launch_that_died_after_a_level_gives_no_value():
    base = examples.guide()
    died = replace(base.launches[2], outcome=Outcome.FAILED)
    assert [value.batch for value in setting_values(replace(base, launches=(*base.launches[:2], died)))] == [
        435,
        500,
    ]


def test_the_knee_lies_between_the_top_and_the_first_value_that_is_surely_lower():
    found = shape(
        of((400, 2800.0, 0.01, 0), (500, 3000.0, 0.01, 0), (600, 2960.0, 0.02, 9), (700, 2500.0, 0.02, 80))
    )
    assert (found.top, found.falls_from, found.preempts_from, found.highest) == (500, 700, 600, 700)


def test_readings_that_cannot_be_told_apart_show_no_fall():
    found = shape(of((400, 2800.0, 0.1, 0), (500, 3000.0, 0.1, 0), (600, 2700.0, 0.1, 0)))
    assert found.falls_from is None
    assert found.counts_preemptions
    assert found.preempts_from is None


def test_a_fall_that_only_the_sweep_saw_is_told_as_such():
    sweep = ((300, 2700.0, 0.02, 0), (500, 3000.0, 0.02, 0), (700, 2600.0, 0.02, 40))
    found = shape(of((400, 2800.0, 0.01, 0), (500, 3000.0, 0.01, 0), sweep=sweep))
    assert (found.falls_from, found.swept_from, found.preempts_swept) == (None, 700, 700)


def test_an_incumbent_with_other_settings_is_no_part_of_the_curve():
    base = of((400, 2800.0, 0.01, 0), (500, 3000.0, 0.01, 0))
    old = replace(base.launches[0].settings, max_batch_size=700, support_select_batch=False)
    kept = replace(base.launches[0], number=3, settings=old, levels=(examples.level(700, 1000.0),))
    assert shape(replace(base, launches=(*base.launches, kept))).falls_from is None


def test_one_value_has_no_shape():
    assert shape(of((400, 2800.0, 0.01, 0))) is None
    assert shape(of()) is None


def test_a_sweep_that_still_rises_at_the_best_restart_shows_no_fall_there():
    sweep = ((520, 1500.0, 0.02, 0), (700, 2000.0, 0.02, 0), (900, 1900.0, 0.2, 0))
    found = shape(of((400, 2800.0, 0.01, 0), (500, 3000.0, 0.01, 0), sweep=sweep))
    assert found.swept_from is None


def test_the_stored_run_on_real_vllm_tells_where_preemptions_begin_and_claims_no_drop_within_its_intervals():
    found = shape(stored("vllm_cpu"))
    assert (found.top, found.highest) == (32, 128)
    assert (found.preempts_from, found.preempts_swept) == (32, 26)
    assert (found.falls_from, found.swept_from) == (None, None)


def test_on_a_plateau_the_smallest_value_that_reads_as_much_is_named_and_no_drop_is_claimed():
    flat = of((32, 700.0, 0.02, 0), (48, 795.0, 0.02, 0), (96, 800.0, 0.02, 0), (128, 798.0, 0.02, 0))
    assert (shape(flat).top, shape(flat).falls_from, shape(flat).enough) == (96, None, 48)
    text = shape_text(flat, ENGLISH)
    assert "a plateau within the intervals, no proven drop" in text
    assert "The smallest value that reads within 1 % of it is 48." in text
    assert "48" in shape_text(flat, CHINESE)


def test_where_throughput_falls_no_plateau_is_named():
    falling = of((32, 795.0, 0.01, 0), (48, 800.0, 0.01, 0), (96, 700.0, 0.01, 0))
    assert "within 1 %" not in shape_text(falling, ENGLISH)
