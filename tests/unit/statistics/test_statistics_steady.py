"""MSER-5: what is dropped is the ramp and no more."""

import random

from hypothesis import given
from hypothesis import strategies as st

from autotune.statistics.steady import mser5


def brute_force(values):
    groups = [sum(values[i : i + 5]) / 5 for i in range(0, len(values) - len(values) % 5, 5)]
    errors = {}
    for cut in range(len(groups) // 2 + 1):
        rest = groups[cut:]
        if len(rest) >= 2:
            mean = sum(rest) / len(rest)
            errors[cut] = sum((x - mean) ** 2 for x in rest) / len(rest) ** 2
    return errors


@given(values=st.lists(st.integers(0, 1000).map(float), max_size=120))
def test_the_cut_minimises_the_marginal_standard_error(values):
    errors = brute_force(values)
    cut = mser5(values)
    if not errors:
        assert cut == 0
    else:
        assert errors[cut // 5] <= min(errors.values()) + 1e-6 * (1.0 + max(errors.values()))


@given(values=st.lists(st.floats(0.0, 1e6), max_size=200))
def test_at_most_the_first_half_is_dropped(values):
    cut = mser5(values)
    assert cut % 5 == 0
    assert 0 <= cut <= len(values) / 2


def test_a_ramp_is_dropped():
    rng = random.Random(1)
    ramp = [10.0 * i for i in range(40)]
    steady = [400.0 + rng.gauss(0.0, 5.0) for _ in range(200)]
    assert 30 <= mser5(ramp + steady) <= 60


def test_a_constant_series_is_kept_whole():
    assert mser5([3.0] * 100) == 0
