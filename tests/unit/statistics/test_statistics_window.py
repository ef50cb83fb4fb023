"""SteadyWindow in virtual time: what it drops, when it stops, and whether its interval is honest."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.statistics.window import SWEEP_RULE, SteadyWindow

BUCKET = 0.5
RATE = 3000.0


def simulate(seed, wander=0.0, tau=20.0, residence=12.0, running=256.0, noise=0.02, **window):
    """Feed a service of RATE token/s whose speed wanders (AR(1), time constant tau) until the level ends."""
    rng = random.Random(seed)
    steady = SteadyWindow(**{"half_width": 0.01, "cap_seconds": 600.0, "bucket_seconds": BUCKET} | window)
    phi = math.exp(-BUCKET / tau)
    drift = rng.gauss(0.0, wander)
    finished = 0.0
    while not steady.status().done:
        drift = phi * drift + rng.gauss(0.0, wander * math.sqrt(1.0 - phi * phi))
        ramp = min(1.0, 0.3 + 0.7 * steady.elapsed / residence)
        finished += running / residence * BUCKET
        steady.add(RATE * BUCKET * (ramp + drift + rng.gauss(0.0, noise)), running, int(finished))
        finished -= int(finished)
    return steady


@pytest.mark.parametrize("wander", [0.0, 0.01])
def test_the_stated_interval_holds_the_truth_in_at_least_185_of_200_runs(wander):
    held = 0
    for seed in range(200):
        status = simulate(seed, wander=wander, cap_seconds=1200.0).status()
        held += abs(status.tokens_per_second / RATE - 1.0) <= status.half_width
    assert held >= 185


def test_a_quiet_service_is_measured_in_two_residence_times_and_ten_batches():
    window = simulate(1)
    assert window.elapsed == pytest.approx(2 * 12.0 + 10 * 15.0, abs=10.0)
    status = window.status()
    assert len(status.batch_means) == 10
    assert status.dropped_seconds >= 24.0
    assert status.half_width <= 0.01
    assert (status.capped, status.below, status.seconds_left) == (False, False, 0.0)


def test_a_sweep_level_takes_one_residence_time_to_settle_and_one_to_read():
    window = simulate(1, half_width=0.03, residence=24.0, noise=0.002)
    assert 48.0 <= window.elapsed <= 52.0
    assert window.status().seconds == pytest.approx(24.0, abs=3.0)


@pytest.mark.parametrize(
    ("residence", "first", "longest"), [(2.0, 10.0, 25.0), (24.0, 24.0, 60.0), (200.0, 90.0, 90.0)]
)
def test_a_sweep_level_reads_10_to_90_s(residence, first, longest):
    assert (SWEEP_RULE.first_reading(residence), SWEEP_RULE.reading_seconds(residence)) == (first, longest)


def test_a_sweep_level_of_a_restless_service_ends_soon_and_says_how_little_it_knows():
    window = simulate(1, half_width=0.02, wander=0.05)
    assert window.elapsed <= 12.0 + 2.5 * 12.0 + 2.0
    assert window.status().capped
    assert window.status().half_width > 0.04


@pytest.mark.parametrize("wander", [0.0, 0.01, 0.03])
@pytest.mark.parametrize("wanted", [0.02, 0.03])
def test_the_interval_of_a_sweep_level_holds_the_truth_too(wander, wanted):
    held = 0
    for seed in range(60):
        status = simulate(seed, wander=wander, half_width=wanted).status()
        held += abs(status.tokens_per_second / RATE - 1.0) <= status.half_width
    assert held >= 54


def test_a_test_that_stands_alone_is_read_until_it_is_sure():
    alone = simulate(3, half_width=0.02, wander=0.02, alone=True, cap_seconds=3000.0)
    assert not alone.status().capped
    assert alone.status().half_width == 0.02
    assert alone.elapsed > simulate(3, half_width=0.02, wander=0.02).elapsed


@pytest.mark.parametrize("wanted", [0.01, 0.02])
def test_a_slow_beginning_is_dropped_whole(wanted):
    window = SteadyWindow(half_width=wanted, cap_seconds=600.0, alone=True)
    while not window.status().done:
        window.add(1500.0 * (0.7 if window.elapsed < 30.0 else 1.0), 256.0, 11)
    assert window.status().tokens_per_second == pytest.approx(3000.0, rel=1e-3)


def test_batches_are_never_shorter_than_a_residence_time():
    status = simulate(1, residence=40.0, cap_seconds=2000.0).status()
    assert status.seconds / len(status.batch_means) >= 39.5


def test_a_noisier_service_is_measured_longer():
    assert simulate(1, noise=0.3).elapsed > 1.3 * simulate(1, noise=0.02).elapsed


def test_the_cap_ends_with_the_interval_that_the_data_gives():
    status = simulate(5, wander=0.05, cap_seconds=300.0).status()
    assert status.capped
    assert status.half_width > 0.01


def test_a_level_that_never_finishes_a_request_gives_no_speed():
    window = SteadyWindow(half_width=0.01, cap_seconds=60.0)
    while not window.status().done:
        window.add(100.0, 10.0, 0)
    assert (window.status().tokens_per_second, window.status().capped) == (None, True)


def test_a_cap_shorter_than_the_settling_time_still_reads_the_last_residence_time():
    status = simulate(1, residence=60.0, cap_seconds=150.0).status()
    assert status.capped
    assert status.seconds <= 60.0
    assert status.tokens_per_second == pytest.approx(RATE, rel=0.03)


def test_a_sure_loser_is_ended_early():
    window = simulate(1, stop_below=1.1 * RATE)
    assert window.status().below
    assert window.elapsed < 100.0


def test_a_level_at_the_bar_is_not_ended_early():
    assert not any(simulate(seed, stop_below=RATE).status().below for seed in range(20))


def test_nothing_is_said_before_the_first_look():
    window = SteadyWindow(half_width=0.01, cap_seconds=600.0)
    window.add(1500.0, 10.0, 1)
    assert window.status().tokens_per_second is None
    for _ in range(100):
        window.add(1500.0, 10.0, 1)
    status = window.status()
    assert (status.tokens_per_second, status.done) == (None, False)


def test_seconds_left_falls_to_nothing():
    window = SteadyWindow(half_width=0.01, cap_seconds=600.0)
    seen = []
    while not window.status().done:
        window.add(1500.0 + 5 * (len(seen) % 3), 256.0, 11)
        seen.append(window.status().seconds_left)
    told = [left for left in seen if left is not None]
    assert told[-1] == 0.0
    assert max(told) < 600.0


def test_what_comes_after_the_end_changes_nothing():
    window = simulate(2)
    before = window.status()
    window.add(1e9, 1.0, 1)
    assert window.status() == before


@settings(max_examples=40, deadline=None)
@given(
    buckets=st.lists(
        st.tuples(st.floats(0.0, 1e5), st.floats(0.0, 1000.0), st.integers(0, 50)), min_size=1, max_size=50
    ),
    half_width=st.sampled_from([0.01, 0.02]),
    bar=st.sampled_from([None, 1000.0]),
)
def test_whatever_is_fed_the_level_ends_by_its_cap_with_sound_numbers(buckets, half_width, bar):
    window = SteadyWindow(half_width=half_width, cap_seconds=120.0, stop_below=bar)
    for index in range(240):
        window.add(*buckets[index % len(buckets)])
        status = window.status()
        assert 0.0 <= status.seconds <= window.elapsed
        if status.batch_means:
            assert status.seconds + status.dropped_seconds <= window.elapsed + 1e-6
            assert status.tokens_per_second == pytest.approx(
                sum(status.batch_means) / len(status.batch_means), rel=1e-9
            )
    assert window.status().done


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), factor=st.sampled_from([0.5, 2.0, 4.0]))
def test_speed_scales_with_the_tokens_and_nothing_else_changes(seed, factor):
    one, other = (SteadyWindow(half_width=0.01, cap_seconds=400.0) for _ in range(2))
    rng = random.Random(seed)
    while not one.status().done:
        tokens = 1500.0 * (1.0 + rng.gauss(0.0, 0.05))
        one.add(tokens, 256.0, 11)
        other.add(factor * tokens, 256.0, 11)
    assert other.status().done
    assert other.status().tokens_per_second == pytest.approx(factor * one.status().tokens_per_second)
    assert other.status().half_width == pytest.approx(one.status().half_width)


@pytest.mark.parametrize(
    "wrong",
    [{"half_width": 0.0}, {"cap_seconds": 0.0}, {"bucket_seconds": -1.0}],
    ids=lambda case: next(iter(case)),
)
def test_a_window_without_extent_is_refused(wrong):
    with pytest.raises(ValueError, match="must be positive"):
        SteadyWindow(**{"half_width": 0.01, "cap_seconds": 60.0} | wrong)
