"""Predicted curves."""

import pytest

from autotune.model.settings import Settings
from autotune.simulator.curve import CurveRequest, peak, predict, predict_curve, spread_between
from autotune.simulator.presets import preset
from autotune.simulator.reading import Window

SMALL = preset("llama3-8b").with_blocks(136)
REQUEST = CurveRequest(
    rules=SMALL.rules,
    cost=SMALL.cost,
    lengths=SMALL.lengths(),
    concurrency=82,
    window=Window(settle=3.0, requests=400),
)


def at(limit):
    return Settings(max_batch_size=limit, max_prefill_batch_size=max(1, limit // 2))


@pytest.mark.slow
def test_the_small_demonstration_rises_to_a_peak_near_thirty_and_falls():
    points = predict_curve(REQUEST, [at(limit) for limit in (22, 27, 32, 45, 68)])
    speeds = [point.tokens_per_second for point in points]
    best = peak(points)
    assert best.settings.max_batch_size in {27, 32}
    assert best.tokens_per_second > 1.15 * speeds[0]
    assert best.tokens_per_second > 1.15 * speeds[-1]
    assert points[0].preemptions_per_request < 0.05 < points[-1].preemptions_per_request


@pytest.mark.slow
def test_more_running_sequences_make_each_token_slower_and_the_queue_shorter():
    low, high = predict_curve(REQUEST, [at(12), at(24)])
    assert high.tpot_ms > low.tpot_ms
    assert high.ttft_ms < low.ttft_ms
    assert high.running_mean > low.running_mean


@pytest.mark.slow
def test_the_whole_run_is_lower_than_the_steady_state():
    asked = CurveRequest(
        rules=SMALL.rules,
        cost=SMALL.cost,
        lengths=SMALL.lengths(),
        concurrency=82,
        window=Window(settle=3.0, requests=300),
        whole_run=True,
    )
    point = predict(asked, at(25))
    assert point.whole_run_tokens_per_second < point.tokens_per_second
    assert predict(REQUEST, at(25)).whole_run_tokens_per_second is None


@pytest.mark.parametrize(("low", "high"), [(362, 1088), (22, 68), (1, 5), (7, 7), (9, 4)])
def test_candidates_hold_both_ends_and_ascend(low, high):
    found = spread_between(low, high)
    assert found[0] == low
    assert found[-1] == max(low, high) or low > high
    assert list(found) == sorted(set(found))
    assert len(found) <= 12


def test_of_two_equal_points_the_smaller_limit_is_the_peak():
    first = predict(REQUEST, at(10))
    assert peak([first, first]).settings == at(10)
