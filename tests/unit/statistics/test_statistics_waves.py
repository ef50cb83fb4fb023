"""Waves of requests that end together: taken out of the values, so that they do not pass for uncertainty."""

import math
import random

import pytest

from autotune.statistics.wander import wander_interval
from autotune.statistics.waves import without_waves
from autotune.statistics.window import SteadyWindow

STEP, PERIOD, MEAN = 0.75, 12.0, 700.0


def values(seed, *, swing, wander=0.0, noise=0.05, count=60):
    """A speed that swings with the period, wanders (time constant 20 s) and is noisy; fractions of MEAN."""
    rng = random.Random(seed)
    kept, drift, phase = math.exp(-STEP / 20.0), rng.gauss(0.0, wander), rng.random()
    found = []
    for index in range(count):
        drift = kept * drift + math.sqrt(1.0 - kept**2) * rng.gauss(0.0, wander)
        wave = swing * math.sin(2.0 * math.pi * (index * STEP / PERIOD + phase))
        found.append(MEAN * (1.0 + wave + drift + rng.gauss(0.0, noise)))
    return tuple(found)


@pytest.mark.parametrize("wander", [0.0, 0.01, 0.03])
def test_the_interval_of_a_speed_in_waves_holds_the_truth_and_is_narrow(wander):
    held, widths = 0, []
    for seed in range(200):
        interval = wander_interval(without_waves(values(seed, swing=0.3, wander=wander), STEP, PERIOD), STEP)
        held += abs(interval.mean - MEAN) <= interval.half_width
        widths.append(interval.half_width / MEAN)
    assert held >= 185
    assert sorted(widths)[100] < 0.1
    before = wander_interval(values(1, swing=0.3, wander=wander), STEP)
    assert before.half_width > 0.5 * MEAN, "read as a wander the waves make it worthless"


def test_where_nothing_swings_hardly_anything_is_taken_for_a_wave():
    taken = sum(
        bool(without_waves(values(seed, swing=0.0, wander=0.03), STEP, PERIOD)) for seed in range(200)
    )
    assert taken <= 20


@pytest.mark.parametrize("given", [(), (1.0,), (5.0,) * 60, (0.0,) * 60])
def test_too_few_values_and_even_ones_have_no_wave(given):
    assert without_waves(given, STEP, PERIOD) == ()


def test_a_wave_does_not_move_the_mean_of_whole_periods():
    even = without_waves(values(3, swing=0.3, noise=0.01), STEP, PERIOD)
    assert len(even) * STEP % PERIOD == 0
    assert sum(even) / len(even) == pytest.approx(MEAN, rel=0.01)


def test_a_level_of_equal_requests_is_read_although_they_end_together():
    """As vLLM on two cores runs 64 tokens in and 192 out: waves of 30 %, one residence time long."""
    rng, window = random.Random(5), SteadyWindow(half_width=0.03, cap_seconds=60.0)
    index = 0
    while not window.status().done:
        wave = 0.3 * math.sin(2.0 * math.pi * index * 0.5 / PERIOD)
        window.add(0.5 * MEAN * (1.0 + wave + rng.gauss(0.0, 0.05)), 32.0, round(32.0 / PERIOD * 0.5))
        index += 1
    assert window.status().tokens_per_second == pytest.approx(MEAN, rel=0.05)
    assert window.status().half_width < 0.1
