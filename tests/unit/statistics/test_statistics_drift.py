"""How often a night is called odd by chance, and how surely a change is seen; by drawing many nights."""

import math
import random

import pytest

from autotune.statistics.compare import LaunchReading, Spread
from autotune.statistics.drift import PRIOR_DOF, PRIOR_SPREAD, departure, pooled_spread

SIGMA = 0.03


def night(rng, launches=2, level=1000.0):
    return tuple(
        LaunchReading(tokens_per_second=level * math.exp(rng.gauss(0.0, SIGMA)), half_width=0.01)
        for _ in range(launches)
    )


def odd_share(level, *, nights, launches, confidence, draws=1500, seed=1):
    rng = random.Random(seed)
    odd = 0
    for _ in range(draws):
        earlier = [night(rng) for _ in range(nights)]
        tonight = night(rng, launches, level)
        spread = pooled_spread([*earlier, tonight])
        odd += departure(earlier, tonight, spread=spread, confidence=confidence).outside
    return odd / draws


@pytest.mark.parametrize("nights", [3, 7, 20])
def test_a_night_without_change_is_odd_no_more_often_than_it_may_be(nights):
    assert odd_share(1000.0, nights=nights, launches=2, confidence=0.9) <= 0.11
    assert odd_share(1000.0, nights=nights, launches=6, confidence=0.998) <= 0.006


def test_ten_per_cent_are_seen_with_two_weeks_of_history():
    assert odd_share(900.0, nights=14, launches=6, confidence=0.998) >= 0.96


def test_nights_that_differ_more_than_their_launches_widen_the_band():
    spread = Spread(value=0.01, dof=100.0)
    calm = [(LaunchReading(tokens_per_second=1000.0, half_width=0.01),) * 2] * 6
    restless = [
        (LaunchReading(tokens_per_second=level, half_width=0.01),) * 2
        for level in (950.0, 1050.0, 940.0, 1060.0, 960.0, 1040.0)
    ]
    tonight = (LaunchReading(tokens_per_second=950.0, half_width=0.01),) * 2
    assert departure(calm, tonight, spread=spread, confidence=0.99).slower
    assert not departure(restless, tonight, spread=spread, confidence=0.99).outside


def test_nothing_to_compare_is_no_departure():
    spread = pooled_spread([])
    assert departure([], night(random.Random(1)), spread=spread, confidence=0.9) is None
    assert departure([night(random.Random(1))], (), spread=spread, confidence=0.9) is None


def test_before_anything_was_launched_twice_the_stated_prior_is_all():
    assert pooled_spread([]) == Spread(value=PRIOR_SPREAD, dof=PRIOR_DOF)
    assert pooled_spread([night(random.Random(1), 1)]).dof == PRIOR_DOF


def test_many_launches_outweigh_the_prior():
    rng = random.Random(3)
    spread = pooled_spread([night(rng) for _ in range(400)])
    assert spread.value == pytest.approx(SIGMA, rel=0.06)
    assert spread.dof == PRIOR_DOF + 400
