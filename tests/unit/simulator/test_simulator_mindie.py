"""MindIE's scheduler, one documented rule a test."""

import pytest

from autotune.errors import UsageError
from autotune.model.settings import Settings
from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.rounds import Idle, RoundKind
from autotune.simulator.rules import MindieRules
from autotune.simulator.sequence import Sequence, State


def rules(**more):
    defaults = {
        "blocks": 100,
        "max_batch_size": 8,
        "max_prefill_batch_size": 8,
        "cache_block_size": 8,
        "support_select_batch": True,
        "prefill_time_ms_per_req": 0,
    }
    return MindieRules(**{**defaults, **more})


def filled(count, *, prompt=8, output=20, **more):
    """A scheduler in which `count` sequences have had their prefill."""
    scheduler = MindieScheduler(rules(**more))
    sequences = [Sequence(number, prompt, output) for number in range(count)]
    for sequence in sequences:
        scheduler.submit(sequence, 0.0)
    while scheduler.waiting:
        scheduler.complete(scheduler.next_round(0.01), 0.02)
    return scheduler, sequences


def step(scheduler, now=1.0):
    work = scheduler.next_round(now)
    return work, scheduler.complete(work, now)


def numbers(sequences):
    return [sequence.number for sequence in sequences]


def test_an_iteration_is_a_prefill_or_a_decode_and_each_gives_one_token():
    scheduler = MindieScheduler(rules())
    sequence = Sequence(0, prompt_tokens=8, output_tokens=3)
    scheduler.submit(sequence, 0.0)
    kinds = []
    while sequence.state is not State.FINISHED:
        before = sequence.generated
        kinds.append(step(scheduler)[0].kind)
        assert sequence.generated == before + 1
    assert kinds == [RoundKind.PREFILL, RoundKind.DECODE, RoundKind.DECODE]
    assert scheduler.free_blocks == 98  # the end is noticed when the next decode is formed
    assert scheduler.next_round(2.0) == Idle(None)
    assert scheduler.free_blocks == 100


def test_a_prefill_stops_at_its_sequences_or_at_the_first_that_breaks_the_token_budget():
    by_count = MindieScheduler(rules(max_prefill_batch_size=3))
    by_tokens = MindieScheduler(rules(max_prefill_tokens=100, max_seq_len=64))
    for number, prompt in enumerate([40, 40, 40, 10]):
        by_count.submit(Sequence(number, prompt, 2), 0.0)
        by_tokens.submit(Sequence(number, prompt, 2), 0.0)
    assert numbers(by_count.next_round(0.0).sequences) == [0, 1, 2]
    work = by_tokens.next_round(0.0)
    assert numbers(work.sequences) == [0, 1]
    assert work.tokens == work.prompt_tokens == 80


@pytest.mark.parametrize(("larger", "taken"), [(True, 4), (False, 2)])
def test_the_token_budget_is_the_larger_of_two_in_3_x_only(larger, taken):
    scheduler = MindieScheduler(
        rules(max_prefill_tokens=80, max_seq_len=2560, larger_prefill_budget=larger, blocks=1000)
    )
    for number in range(4):
        scheduler.submit(Sequence(number, 40, 2), 0.0)
    assert len(scheduler.next_round(0.0).sequences) == taken


def test_a_prefill_batch_of_zero_means_the_same_as_max_batch_size():
    assert rules(max_prefill_batch_size=0).prefill_batch == 8


def test_more_may_run_than_max_batch_size_and_they_take_turns():
    scheduler, _ = filled(12, max_batch_size=8, max_prefill_batch_size=12, output=50)
    assert scheduler.running == 12
    served = [numbers(step(scheduler)[0].sequences) for _ in range(3)]
    assert served[0] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert served[1] == [8, 9, 10, 11, 0, 1, 2, 3]
    assert served[2] == [4, 5, 6, 7, 0, 1, 2, 3]


def test_a_decode_takes_a_block_when_a_length_crosses_a_multiple_of_the_block_size():
    scheduler, _ = filled(1, prompt=8, output=20)
    free = [scheduler.free_blocks]
    for _ in range(10):
        step(scheduler)
        free.append(scheduler.free_blocks)
    # 8 prompt tokens fill a block; the first generated one needs the second, the ninth the third
    assert free == [99, 98, 98, 98, 98, 98, 98, 98, 98, 97, 97]


def test_without_blocks_the_last_is_recomputed_with_what_it_has_generated():
    scheduler, sequences = filled(2, prompt=8, output=80, blocks=12)
    while not (work := scheduler.next_round(1.0)).preempted:
        scheduler.complete(work, 1.0)
    assert numbers(work.preempted) == [1]
    assert sequences[1].state is State.WAITING
    assert sequences[1].blocks == 0
    had = sequences[1].generated
    scheduler.complete(work, 1.0)
    while (work := scheduler.next_round(1.0)).kind is not RoundKind.PREFILL:
        scheduler.complete(work, 1.0)
    assert work.tokens == 8 + had
    scheduler.complete(work, 1.0)
    assert sequences[1].generated == had + 1
    assert scheduler.preemptions == scheduler.recomputations == 1


def test_a_swap_keeps_what_was_computed_and_counts_copied_blocks():
    scheduler, sequences = filled(2, prompt=8, output=80, blocks=12, cpu_blocks=20, max_preempt_count=1)
    copied = 0
    for _ in range(400):
        work, _ = step(scheduler)
        copied += work.swapped_blocks
        if all(sequence.state is State.FINISHED for sequence in sequences):
            break
    assert scheduler.preemptions > 0
    assert scheduler.recomputations == 0
    assert copied > 0
    assert isinstance(scheduler.next_round(2.0), Idle)
    assert scheduler.free_blocks == 12
    assert scheduler.free_cpu_blocks == 20


def test_no_more_than_max_preempt_count_are_swapped_in_a_round_and_the_others_are_recomputed():
    scheduler, _ = filled(
        6, prompt=8, output=60, blocks=13, cpu_blocks=50, max_preempt_count=1, prefill_time_ms_per_req=1000
    )
    seen = []
    for _ in range(60):
        work, _ = step(scheduler)
        if work.preempted:
            seen.append([sequence.state for sequence in work.preempted])
    assert all(states.count(State.SWAPPED) <= 1 for states in seen)
    assert scheduler.swapped or scheduler.recomputations < scheduler.preemptions


def test_new_requests_are_prefilled_before_recomputed_ones():
    scheduler, sequences = filled(2, prompt=8, output=60, blocks=12, max_batch_size=2)
    while not (work := scheduler.next_round(1.0)).preempted:
        scheduler.complete(work, 1.0)
    scheduler.complete(work, 1.0)
    scheduler.submit(Sequence(7, 8, 4), 1.0)
    scheduler.cancel(sequences[0])
    prefills = []
    while len(prefills) < 2:
        work, _ = step(scheduler)
        if work.kind is RoundKind.PREFILL:
            prefills.append(numbers(work.sequences))
    assert prefills == [[7], [1]]


def test_a_request_that_waits_too_long_for_blocks_takes_those_of_the_last():
    patient = {"prompt": 32, "output": 8, "blocks": 12, "max_first_token_wait_ms": 2500}
    scheduler, sequences = filled(2, **patient)
    scheduler.submit(Sequence(2, 40, 4), 10.0)
    work, _ = step(scheduler, 12.0)
    assert work.preempted == ()
    work, _ = step(scheduler, 13.0)
    assert numbers(work.preempted) == [1]
    assert sequences[1].preemptions == 1
    assert numbers(step(scheduler, 13.1)[0].sequences) == [2]


def test_before_3_x_a_sequence_without_a_block_sits_out_while_enough_others_go_on():
    scheduler, sequences = filled(3, prompt=8, output=40, blocks=8, recompute_threshold=0.5)
    for _ in range(8):
        work, _ = step(scheduler)
        assert len(work.sequences) == 3
    sizes = []
    for _ in range(8):
        work, _ = step(scheduler)
        sizes.append(len(work.sequences))
    assert min(sizes) < 3
    assert scheduler.running == 3
    assert scheduler.recomputations == 0
    for _ in range(300):
        if isinstance(work := scheduler.next_round(2.0), Idle):
            break
        scheduler.complete(work, 2.0)
    assert all(sequence.state is State.FINISHED for sequence in sequences)
    assert scheduler.recomputations > 0
    assert scheduler.free_blocks == 8


def test_what_can_never_be_served_is_refused_at_once():
    scheduler = MindieScheduler(rules(blocks=4))
    assert scheduler.fits(8, 16)
    with pytest.raises(UsageError, match="KV blocks"):
        scheduler.submit(Sequence(0, 8, 17), 0.0)


@pytest.mark.parametrize("rounds", range(6))
@pytest.mark.parametrize("in_flight", [False, True])
def test_cancelling_at_any_time_gives_all_blocks_back(rounds, in_flight):
    scheduler = MindieScheduler(rules(max_batch_size=3, max_prefill_batch_size=4))
    sequences = [Sequence(number, 8, 4) for number in range(5)]
    for sequence in sequences:
        scheduler.submit(sequence, 0.0)
    for _ in range(rounds):
        step(scheduler)
    work = scheduler.next_round(1.0) if in_flight else None
    for sequence in sequences:
        scheduler.cancel(sequence)
        scheduler.cancel(sequence)
    if in_flight:
        assert scheduler.complete(work, 1.0) == []
    assert scheduler.unfinished == 0
    assert isinstance(scheduler.next_round(2.0), Idle)
    assert scheduler.free_blocks == 100


def test_a_round_must_be_completed_before_the_next_and_only_once():
    scheduler, _ = filled(1)
    work = scheduler.next_round(1.0)
    with pytest.raises(RuntimeError, match="not completed"):
        scheduler.next_round(1.0)
    scheduler.complete(work, 1.0)
    with pytest.raises(RuntimeError, match="not given out"):
        scheduler.complete(work, 1.0)


def test_rules_that_mindie_would_refuse_are_refused():
    with pytest.raises(UsageError, match="cpu_blocks"):
        rules(max_preempt_count=1)
    with pytest.raises(UsageError, match="at least 1"):
        rules(blocks=0)


def test_a_launch_changes_only_the_rules_that_it_sets():
    changed = rules().with_settings(Settings(max_batch_size=435, max_prefill_batch_size=217))
    assert (changed.max_batch_size, changed.prefill_batch) == (435, 217)
    assert changed.prefill_time_ms_per_req == 0
    assert rules().with_settings(Settings(max_batch_size=9, support_select_batch=False)) == rules(
        max_batch_size=9, support_select_batch=False
    )


def test_a_swapped_sequence_that_is_cancelled_gives_its_cpu_blocks_back():
    scheduler, sequences = filled(2, prompt=8, output=80, blocks=12, cpu_blocks=20, max_preempt_count=1)
    while not scheduler.swapped:
        step(scheduler)
    scheduler.cancel(sequences[1])
    assert scheduler.swapped == 0
    assert scheduler.free_cpu_blocks == 20


def test_a_sequence_that_has_ended_counts_as_running_until_the_next_decode():
    scheduler, sequences = filled(2, output=3)
    step(scheduler)
    _, finished = step(scheduler)
    assert finished == sequences
    assert scheduler.running == 2
    assert scheduler.unfinished == 0
    assert scheduler.next_round(2.0) == Idle(None)
    assert scheduler.running == 0
