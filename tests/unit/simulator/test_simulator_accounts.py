"""Step costs, the work they belong to, noise, buckets and latencies."""

import math
import statistics
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.simulator.closed_loop import ClosedLoop, Load
from autotune.simulator.cost import StepCost
from autotune.simulator.latency import distribution_ms
from autotune.simulator.ledger import Ledger
from autotune.simulator.lengths import Lengths, Request
from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.noise import Noise, StepNoise
from autotune.simulator.rounds import Round, RoundKind
from autotune.simulator.rules import MindieRules

COST = StepCost(
    decode_base=0.03,
    decode_per_sequence=1e-4,
    decode_per_context_token=1e-7,
    prefill_base=0.1,
    prefill_per_token=1e-3,
    prefill_per_sequence=2e-3,
    swap_per_block=5e-3,
)


def test_a_round_costs_what_its_parts_cost():
    prefill = Round(RoundKind.PREFILL, (None,) * 3, 600, 0, prompt_tokens=600)
    assert COST.seconds(prefill) == pytest.approx(0.1 + 0.6 + 0.006)
    decode = Round(RoundKind.DECODE, (None,) * 200, 200, 100_000, swapped_blocks=2)
    assert COST.seconds(decode) == pytest.approx(0.03 + 0.02 + 0.01 + 0.01)
    mixed = Round(RoundKind.MIXED, (None,) * 200, 700, 100_000, prompt_tokens=500)
    assert COST.seconds(mixed) == pytest.approx(0.03 + 0.02 + 0.01 + 0.5)
    padded = Round(RoundKind.DECODE, (None,) * 200, 200, 0, padding=56)
    assert COST.seconds(padded) == pytest.approx(0.03 + 0.0256)


@pytest.mark.parametrize("swap", [0, 2])
def test_the_time_of_a_run_is_linear_in_the_step_costs(swap):
    rules = MindieRules(
        blocks=40,
        max_batch_size=12,
        cache_block_size=8,
        max_prefill_batch_size=6,
        support_select_batch=True,
        prefill_time_ms_per_req=50,
        max_preempt_count=swap,
        cpu_blocks=20 * swap,
    )
    load = Load(lengths=Lengths((Request(10, 40), Request(20, 15))), concurrency=20, requests=80)
    loop = ClosedLoop(MindieScheduler(rules), COST, load)
    outcome = loop.run()
    assert outcome.preemptions > 0
    assert outcome.work.seconds(COST) == pytest.approx(outcome.seconds)


def test_work_since_a_moment_is_what_came_after_it():
    load = Load(lengths=Lengths((Request(10, 40),)), concurrency=2, requests=6)
    loop = ClosedLoop(MindieScheduler(MindieRules(blocks=40, support_select_batch=True)), COST, load)
    while loop.completed < 2:
        loop.advance()
    then, now = loop.work.copy(), loop.now
    loop.run()
    assert loop.work.since(then).seconds(COST) == pytest.approx(loop.now - now)


def test_noise_is_repeatable_and_its_factors_have_the_asked_spread():
    noise = Noise(step=0.05)
    one, other = StepNoise(noise, seed="a"), StepNoise(noise, seed="a")
    factors = [one.factor(0.0) for _ in range(4000)]
    assert factors == [other.factor(0.0) for _ in range(4000)]
    assert statistics.stdev(map(math.log, factors)) == pytest.approx(0.05, rel=0.1)


def test_drift_wanders_slowly_within_its_spread():
    noise = StepNoise(Noise(drift=0.02, drift_seconds=20.0), seed=1)
    logs = [math.log(noise.factor(float(second))) for second in range(8_000)]
    assert statistics.stdev(logs) == pytest.approx(0.02, rel=0.2)
    jumps = [abs(after - before) for before, after in pairwise(logs)]
    assert max(jumps) < 0.03
    assert statistics.mean(jumps) < 0.01


def test_without_noise_only_the_launch_factor_is_left():
    assert StepNoise(Noise(), seed=1, launch_factor=1.03).factor(12.0) == 1.03


@given(st.lists(st.tuples(st.floats(0.001, 3.0), st.integers(0, 50), st.integers(0, 9)), min_size=1))
def test_buckets_hold_all_tokens_completions_and_running_time(rounds):
    ledger = Ledger(0.5)
    now = 0.0
    for seconds, tokens, completions in rounds:
        ledger.add(now, now + seconds, running=7, tokens=tokens, completions=completions)
        now += seconds
    buckets = ledger.buckets(now + 10.0)
    assert sum(bucket.tokens for bucket in buckets) == sum(tokens for _, tokens, _ in rounds)
    assert sum(bucket.completions for bucket in buckets) == sum(done for _, _, done in rounds)
    assert sum(bucket.running for bucket in buckets) * 0.5 == pytest.approx(7 * now)


def test_a_bucket_is_full_only_when_its_time_is_over():
    ledger = Ledger(0.5)
    ledger.add(0.0, 1.2, running=1, tokens=3)
    assert ledger.full(1.2) == 2
    assert len(ledger.buckets(1.2)) == 2


def test_a_distribution_is_in_milliseconds_and_p99_needs_a_hundred_samples():
    few = distribution_ms([0.001 * n for n in range(1, 100)])
    assert few.mean == pytest.approx(50.0)
    assert (few.p50, few.p75, few.p90, few.p99) == (
        pytest.approx(50),
        pytest.approx(75),
        pytest.approx(90),
        None,
    )
    many = distribution_ms([0.001 * n for n in range(1, 101)])
    assert many.p99 == pytest.approx(99.0)
    assert distribution_ms([]).mean is None


def test_weights_count_like_repeated_samples():
    weighted = distribution_ms([0.010, 0.020, 0.500], [60, 39, 1])
    repeated = distribution_ms([0.010] * 60 + [0.020] * 39 + [0.500])
    assert weighted.mean == pytest.approx(repeated.mean)
    assert (weighted.p50, weighted.p90, weighted.p99) == (repeated.p50, repeated.p90, repeated.p99)
