"""Fitting step costs to throughputs."""

from dataclasses import replace

import pytest

from autotune.errors import UsageError
from autotune.simulator.calibrate import MeasuredLaunch, calibrate
from autotune.simulator.closed_loop import Load
from autotune.simulator.cost import StepCost
from autotune.simulator.presets import preset
from autotune.simulator.reading import Window, steady_state, whole_run

KNOWN = preset("llama3-8b").with_blocks(136)
LENGTHS = KNOWN.lengths(count=200)
TRUTH = KNOWN.cost
WINDOW = Window(settle=2.0, requests=100)
GUESS = replace(
    TRUTH,
    decode_base=TRUTH.decode_base * 1.5,
    prefill_per_token=TRUTH.prefill_per_token * 0.6,
    swap_per_block=0.0,
)


def measured(limit, *, concurrency=64, cost=TRUTH):
    rules = KNOWN.rules.with_batch(limit)
    load = Load(lengths=LENGTHS, concurrency=concurrency)
    speed = steady_state(rules, cost, load, WINDOW).tokens_per_second
    return MeasuredLaunch(rules=rules, load=load, tokens_per_second=speed)


@pytest.mark.slow
def test_costs_that_made_the_readings_are_found_well_enough_to_predict_another():
    fit = calibrate([measured(limit) for limit in (8, 24, 40)], GUESS, window=WINDOW)
    assert fit.worst < 0.02
    assert fit.rms <= fit.worst
    unseen = measured(32)
    predicted = steady_state(unseen.rules, fit.cost, unseen.load, WINDOW).tokens_per_second
    assert predicted == pytest.approx(unseen.tokens_per_second, rel=0.02)


def test_levels_of_one_launch_at_several_concurrencies_are_enough_for_the_decode_costs():
    launches = [measured(40, concurrency=clients) for clients in (3, 6, 12, 20)]
    fit = calibrate(launches, GUESS, window=WINDOW)
    assert fit.worst < 0.02
    assert fit.cost.decode_base == pytest.approx(TRUTH.decode_base, rel=0.1)


def test_a_coefficient_that_the_readings_say_nothing_about_has_a_large_error():
    fit = calibrate([measured(limit, concurrency=4) for limit in (2, 3, 4)], GUESS, window=WINDOW)
    errors = {coefficient.name: coefficient.relative_error for coefficient in fit.coefficients}
    assert errors["decode_per_context_token"] > 0.5
    assert errors["decode_base"] < 0.2
    assert "swap_per_block" not in errors


def test_readings_that_no_costs_can_make_are_said_to_fit_badly():
    odd = [replace(measured(limit), tokens_per_second=speed) for limit, speed in ((10, 900.0), (20, 300.0))]
    assert calibrate(odd, GUESS, window=WINDOW).worst > 0.2


def test_whole_run_readings_are_fitted_as_whole_runs():
    load = Load(lengths=LENGTHS, concurrency=64, requests=100)
    rules = KNOWN.rules.with_batch(20)
    speed = whole_run(rules, TRUTH, load).tokens_per_second
    launch = MeasuredLaunch(rules=rules, load=load, tokens_per_second=speed)
    assert calibrate([launch], GUESS).worst < 0.005


def test_nothing_to_fit_to_is_refused():
    with pytest.raises(UsageError, match="at least one"):
        calibrate([], StepCost(decode_base=0.1, decode_per_sequence=0.0))
