"""Error rates of the sequential test and its length, by drawing many confirmations."""

import math
import random

import pytest

from autotune.statistics.compare import LaunchReading, Spread
from autotune.statistics.sequential import FALSE_GAIN, MISSED_GAIN, WORTH, Answer, weigh

SIGMA = 0.03
KNOWN = Spread(value=SIGMA, dof=1e9)


def reading(rng, gain=0.0):
    return LaunchReading(
        tokens_per_second=1000.0 * (1 + gain) * math.exp(rng.gauss(0, SIGMA)), half_width=0.01
    )


def confirm(rng, gain):
    """Two launches of the incumbent, then by turns; the answer and the launches of both sides."""
    ours, theirs = [reading(rng), reading(rng)], [reading(rng, gain)]
    while (answer := weigh(ours, theirs, spread=KNOWN).answer) is Answer.OPEN and len(theirs) < 200:
        if len(ours) < len(theirs):
            ours.append(reading(rng))
        else:
            theirs.append(reading(rng, gain))
    return answer, len(ours) + len(theirs)


def drawn(gain, draws=1500):
    rng = random.Random(7)
    return [confirm(rng, gain) for _ in range(draws)]


def test_no_gain_is_called_a_gain_no_more_often_than_stated():
    found = drawn(0.0)
    assert sum(answer is Answer.FASTER for answer, _ in found) / len(found) <= FALSE_GAIN + 0.004


def test_a_gain_of_its_size_is_missed_no_more_often_than_stated():
    found = drawn(WORTH)
    assert sum(answer is Answer.FASTER for answer, _ in found) / len(found) >= 1 - MISSED_GAIN - 0.015


def test_a_large_gain_and_a_loss_take_few_launches():
    for gain, most in ((0.15, 12.0), (-0.05, 9.0)):
        lengths = [length for _, length in drawn(gain, 300)]
        assert sum(lengths) / len(lengths) <= most


def test_a_spread_that_is_hardly_known_is_widened():
    rng = random.Random(1)
    ours, theirs = [reading(rng) for _ in range(3)], [reading(rng, 0.2) for _ in range(3)]
    sure = weigh(ours, theirs, spread=KNOWN)
    unsure = weigh(ours, theirs, spread=Spread(value=SIGMA, dof=3.0))
    assert 0 < unsure.log_ratio < sure.log_ratio
    assert sure.gain == unsure.gain


def test_a_side_without_a_launch_cannot_be_weighed():
    with pytest.raises(ValueError, match="on each side"):
        weigh([], [reading(random.Random(1))], spread=KNOWN)
