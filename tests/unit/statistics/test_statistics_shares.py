"""Shares: the binomial bounds hold what they promise and fit each other."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.statistics.shares import (
    Judgement,
    fewest_requests,
    highest_share,
    judge_mean,
    judge_share,
    lowest_share,
)

COUNTS = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_459_requests_without_a_violation_prove_a_99th_percentile_at_99_percent():
    """0.99 ** 459 = 0.00992, 0.99 ** 458 = 0.01002."""
    assert fewest_requests(0.01) == 459
    assert judge_share(0, 459, 0.01) is Judgement.KEPT
    assert judge_share(0, 458, 0.01) is Judgement.OPEN


@given(counts=COUNTS, confidence=st.floats(0.6, 0.999))
def test_the_bounds_hold_what_was_seen_between_them(counts, confidence):
    violations, requests = counts
    low = lowest_share(violations, requests, confidence=confidence)
    high = highest_share(violations, requests, confidence=confidence)
    assert 0.0 <= low <= violations / requests <= high <= 1.0


@given(counts=COUNTS)
def test_one_side_mirrors_the_other(counts):
    violations, requests = counts
    mirrored = 1.0 - lowest_share(requests - violations, requests)
    assert highest_share(violations, requests) == pytest.approx(mirrored, abs=1e-9)


@given(requests=st.integers(1, 400), share=st.floats(0.001, 0.3))
def test_a_share_just_above_what_is_allowed_is_called_kept_at_most_once_in_a_hundred(requests, share):
    """Exact: the chance to see few enough violations, summed over the binomial distribution."""
    false = sum(
        math.comb(requests, k) * share**k * (1.0 - share) ** (requests - k)
        for k in range(requests + 1)
        if judge_share(k, requests, share * 0.999) is Judgement.KEPT
    )
    assert false <= 0.0101


@given(counts=COUNTS, allowed=st.floats(0.001, 0.5))
def test_what_is_kept_stays_kept_with_fewer_violations(counts, allowed):
    violations, requests = counts
    if judge_share(violations, requests, allowed) is Judgement.KEPT:
        assert judge_share(max(0, violations - 1), requests, allowed) is Judgement.KEPT


def test_nothing_seen_leaves_everything_open():
    assert judge_share(0, 0, 0.01) is Judgement.OPEN


def test_a_mean_is_judged_with_its_error():
    assert judge_mean(49.0, 0.01, 50.0) is Judgement.KEPT
    assert judge_mean(49.5, 0.01, 50.0) is Judgement.OPEN
    assert judge_mean(51.0, 0.01, 50.0) is Judgement.BROKEN


@pytest.mark.parametrize("counts", [(-1, 5), (6, 5), (0, 0)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, match="impossible"):
        highest_share(*counts)


@pytest.mark.parametrize("allowed", [0.0, 1.0])
def test_a_share_without_room_cannot_be_proven(allowed):
    with pytest.raises(ValueError, match="between 0 and 1"):
        fewest_requests(allowed)
