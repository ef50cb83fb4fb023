from dataclasses import replace

from autotune.errors import LaunchCause
from autotune.model.launch import Purpose
from autotune.report.vendor import vendor_run

from . import example_campaigns as examples


def test_the_guides_own_readings_give_its_own_answer():
    run = vendor_run(examples.guide())
    assert run is not None
    assert [step.batch for step in run.steps] == [435, 500, 600]
    assert (run.chosen.batch, run.complete) == (500, True)
    assert run.seconds == 3 * 793.0
    assert not any(step.estimated for step in run.steps)


def test_a_value_between_two_launches_is_read_off_the_line_and_says_so():
    base = examples.guide()
    campaign = replace(
        base,
        launches=(
            *base.launches[:2],
            examples.launch(3, Purpose.CANDIDATE, 700, examples.level(700, 2000.0)),
        ),
    )
    run = vendor_run(campaign)
    assert run is not None
    third = run.steps[2]
    assert (third.batch, third.estimated) == (600, True)
    assert third.tokens_per_second == (2980.3 + 2000.0) / 2


def test_readings_that_end_while_throughput_rises_tell_no_choice():
    base = examples.guide()
    run = vendor_run(replace(base, launches=base.launches[:2]))
    assert run is not None
    assert not run.complete


def test_a_start_that_fails_counts_as_a_drop():
    base = examples.guide()
    out_of_memory = examples.failed(3, 600, LaunchCause.MEMORY, "out of memory")
    run = vendor_run(replace(base, launches=(*base.launches[:2], out_of_memory)))
    assert run is not None
    assert run.complete
    assert run.chosen.batch == 500
    assert run.steps[-1].tokens_per_second is None


def test_without_a_bracket_or_a_reading_there_is_nothing_to_compare():
    assert vendor_run(examples.vllm()) is None
    assert vendor_run(replace(examples.guide(), launches=())) is None


def test_above_everything_that_fell_already_the_last_reading_is_the_most():
    base = examples.guide()
    fell = examples.launch(3, Purpose.CANDIDATE, 560, examples.level(560, 2500.0))
    run = vendor_run(replace(base, launches=(*base.launches[:2], fell)))
    assert run is not None
    last = run.steps[-1]
    assert (last.batch, last.tokens_per_second, last.at_most) == (600, 2500.0, True)
    assert (run.chosen.batch, run.complete) == (500, True)
