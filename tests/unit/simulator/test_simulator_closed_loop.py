"""Laws of a closed loop in virtual time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import UsageError
from autotune.simulator.closed_loop import ClosedLoop, Load
from autotune.simulator.cost import StepCost
from autotune.simulator.lengths import Lengths, Request
from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.noise import Noise, StepNoise
from autotune.simulator.rules import MindieRules

COST = StepCost(
    decode_base=0.02,
    decode_per_sequence=1e-3,
    decode_per_context_token=1e-5,
    prefill_base=0.01,
    prefill_per_token=1e-3,
    swap_per_block=1e-3,
)


@st.composite
def runs(draw):
    pairs = draw(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 60)), min_size=1, max_size=12))
    preempt = draw(st.sampled_from([0, 2]))
    rules = MindieRules(
        blocks=draw(st.integers(20, 120)),
        max_batch_size=draw(st.integers(1, 12)),
        max_prefill_batch_size=draw(st.integers(1, 8)),
        max_prefill_tokens=draw(st.integers(60, 200)),
        max_seq_len=100,
        cache_block_size=8,
        cpu_blocks=10 * preempt,
        max_preempt_count=preempt,
        support_select_batch=draw(st.booleans()),
        prefill_time_ms_per_req=draw(st.sampled_from([0, 20, 100, 600])),
        max_queue_delay_microseconds=draw(st.sampled_from([500, 5000, 500_000])),
        recompute_threshold=draw(st.sampled_from([None, 0.5])),
    )
    load = Load(
        lengths=Lengths(tuple(Request(*pair) for pair in pairs)),
        concurrency=draw(st.integers(1, 20)),
        requests=draw(st.integers(1, 60)),
    )
    noise = Noise(step=draw(st.sampled_from([0.0, 0.1])), drift=draw(st.sampled_from([0.0, 0.05])))
    return rules, load, noise


def simulate(rules, load, noise, *, jump=True, seed=1):
    loop = ClosedLoop(MindieScheduler(rules), COST, load, noise=StepNoise(noise, seed=seed), jump=jump)
    return loop.run()


@pytest.mark.slow
@given(runs())
@settings(max_examples=70, deadline=None)
def test_jumping_over_quiet_rounds_gives_to_the_last_bit_what_stepping_gives(run):
    assert simulate(*run, jump=True) == simulate(*run, jump=False)


@given(runs())
@settings(max_examples=60, deadline=None)
def test_every_request_is_answered_in_full_and_every_token_is_booked_once(run):
    rules, load, noise = run
    outcome = simulate(rules, load, noise)
    asked = [request for _, request in zip(range(load.requests), load.lengths.endless(), strict=False)]
    assert outcome.completed == outcome.submitted == load.requests
    assert outcome.tokens == sum(request.output_tokens for request in asked)
    assert sum(bucket.tokens for bucket in outcome.buckets) <= outcome.tokens


@pytest.mark.slow
@given(runs())
@settings(max_examples=40, deadline=None)
def test_the_same_seed_gives_the_same_run(run):
    assert simulate(*run, seed=5) == simulate(*run, seed=5)


def steady_loop(max_batch_size, concurrency, seconds, **more):
    lengths = Lengths(tuple(Request(50, output) for output in range(20, 61, 4)))
    rules = MindieRules(
        blocks=10_000, max_batch_size=max_batch_size, max_prefill_batch_size=max_batch_size, **more
    )
    loop = ClosedLoop(MindieScheduler(rules), COST, Load(lengths=lengths, concurrency=concurrency))
    while loop.now < seconds:
        loop.advance()
    return loop


def test_little_s_law_holds_between_running_and_completions():
    loop = steady_loop(32, 32, 400.0, support_select_batch=True, prefill_time_ms_per_req=50)
    outcome = loop.outcome()
    residence = sum(s.finished - s.arrived for s in loop.finished) / len(loop.finished)
    in_service = outcome.completed / outcome.seconds * residence
    assert in_service == pytest.approx(32, rel=0.02)


def test_a_queue_counts_in_the_first_token_and_not_in_the_time_per_token():
    alone = steady_loop(16, 16, 200.0).outcome()
    queued = steady_loop(16, 64, 200.0, support_select_batch=True).outcome()
    assert queued.ttft_ms.mean > 5 * alone.ttft_ms.mean
    assert queued.tpot_ms.mean < 1.5 * alone.tpot_ms.mean


def test_a_round_longer_than_a_bucket_is_running_in_each_of_them():
    slow = StepCost(decode_base=1.3, decode_per_sequence=0.0)
    load = Load(lengths=Lengths((Request(8, 10),)), concurrency=4, requests=4)
    loop = ClosedLoop(MindieScheduler(MindieRules(blocks=100)), slow, load, bucket_seconds=0.5)
    outcome = loop.run()
    busy = [bucket.running for bucket in outcome.buckets]
    assert busy[1:] == pytest.approx([4.0] * len(busy[1:]))


def test_a_load_without_requests_or_clients_is_refused():
    with pytest.raises(UsageError, match="at least 1"):
        Load(lengths=Lengths((Request(1, 1),)), concurrency=0)
    with pytest.raises(UsageError, match="at least 1"):
        Load(lengths=Lengths((Request(1, 1),)), concurrency=1, requests=0)
