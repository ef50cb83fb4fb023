"""What a scheduler decided is decided again from its trace."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.policies import make_scheduler
from autotune.simulator.rounds import Idle, RoundKind
from autotune.simulator.rules import MindieRules
from autotune.simulator.sequence import Sequence
from autotune.simulator.trace import Asked, Completed, Submitted, TracedScheduler, replay
from autotune.simulator.trace_lines import line_of, read_lines
from autotune.simulator.vllm_rules import VllmRules

MINDIE = MindieRules(
    blocks=30,
    max_batch_size=6,
    max_prefill_batch_size=4,
    cache_block_size=8,
    max_first_token_wait_ms=1000,
)
SELECTING = MindieRules(
    blocks=30, max_batch_size=6, max_prefill_batch_size=4, cache_block_size=8, support_select_batch=True
)
VLLM = VllmRules(blocks=30, max_batch_size=6, max_num_batched_tokens=32, cache_block_size=8)


def drive(rules, seed):
    """Arrivals, cancellations and step times as irregular as a real daemon's."""
    generator = random.Random(seed)
    traced = TracedScheduler(make_scheduler(rules))
    alive = []
    now, number = 0.0, 0
    for _ in range(120):
        now += generator.random() * 0.2
        if generator.random() < 0.5:
            alive.append(Sequence(number, generator.randint(1, 30), generator.randint(1, 40)))
            traced.submit(alive[-1], now)
            number += 1
        if alive and generator.random() < 0.1:
            traced.cancel(alive.pop(generator.randrange(len(alive))))
        work = traced.next_round(now)
        if isinstance(work, Idle):
            continue
        now += generator.random() * 0.3
        if alive and generator.random() < 0.1:
            traced.cancel(alive.pop(generator.randrange(len(alive))))
        traced.complete(work, now)
    return tuple(traced.events)


@given(seed=st.integers(0, 2**32), rules=st.sampled_from([MINDIE, SELECTING, VLLM]))
@settings(max_examples=40, deadline=None)
def test_a_replayed_trace_admits_and_preempts_in_the_same_order(seed, rules):
    trace = drive(rules, seed)
    assert any(isinstance(event, Asked) and event.numbers for event in trace)
    assert replay(rules, trace) == trace


@given(seed=st.integers(0, 2**32), rules=st.sampled_from([MINDIE, SELECTING, VLLM]))
@settings(max_examples=20, deadline=None)
def test_a_trace_that_was_written_to_lines_and_read_again_is_the_same(seed, rules):
    trace = drive(rules, seed)
    assert read_lines([line_of(event) for event in trace]) == trace


@pytest.mark.parametrize("line", ['["complete", 1.0', '["jump", 1.0]', "{}", '["ask", 1.0, "nap", [], []]'])
def test_a_line_that_is_no_event_is_refused(line):
    with pytest.raises(ValueError, match=r"no event|delimiter|nap"):
        read_lines([line])


def test_a_changed_arrival_is_noticed():
    trace = drive(SELECTING, 1)
    place = next(i for i, event in enumerate(trace) if isinstance(event, Submitted))
    longer = replace(trace[place], output_tokens=trace[place].output_tokens + 1)
    assert replay(SELECTING, (*trace[:place], longer, *trace[place + 1 :])) != trace


def test_a_trace_tells_who_was_served_and_who_was_finished():
    traced = TracedScheduler(MindieScheduler(SELECTING))
    sequence = Sequence(4, 8, 1)
    traced.submit(sequence, 0.5)
    traced.complete(traced.next_round(1.0), 2.0)
    assert isinstance(traced.next_round(3.0), Idle)
    assert traced.events == [
        Submitted(0.5, 4, 8, 1),
        Asked(1.0, RoundKind.PREFILL, (4,)),
        Completed(2.0, (4,)),
        Asked(3.0, None),
    ]


def test_a_trace_that_completes_a_round_which_was_never_given_out_is_refused():
    with pytest.raises(ValueError, match="no round"):
        replay(MINDIE, (Completed(1.0, ()),))


def test_a_round_that_the_trace_does_not_have_is_told():
    nothing_to_do = Asked(1.0, None)
    trace = (Submitted(0.0, 1, 4, 4), nothing_to_do, Asked(2.0, None))
    with pytest.raises(ValueError, match=r"a round is given out .* before 2\.0"):
        replay(SELECTING, trace)
