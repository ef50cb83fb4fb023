"""When MindIE prefills and when it decodes, by hand arithmetic on the documented rules."""

import pytest

from autotune.simulator.rules import MindieRules
from autotune.simulator.stage import Queues, StagePolicy


def queues(*, waiting=10, running=0, swapped=0, free_blocks=1000, oldest_arrival=0.0):
    return Queues(waiting, running, swapped, free_blocks, oldest_arrival)


def policy(**more):
    return StagePolicy(MindieRules(blocks=1000, **more))


def decodes_before_a_prefill(running, *, limit, prefill_ms, decode_ms):
    chooser = policy(
        support_select_batch=True,
        max_batch_size=limit,
        prefill_time_ms_per_req=prefill_ms,
        decode_time_ms_per_req=decode_ms,
    )
    rounds = 0
    while not chooser.wants_prefill(queues(running=running), 0.0):
        rounds += 1
    return rounds


@pytest.mark.parametrize(
    ("running", "limit", "rounds"),
    [
        (385, 500, 40),  # 600 ms * 385 / (50 ms * 115) = 40.2: the 41st round prefills
        (493, 1088, 9),  # 600 * 493 / (50 * 595) = 9.9
        (0, 200, 0),  # nobody loses by a prefill
    ],
)
def test_a_prefill_comes_when_the_empty_places_have_wasted_as_much_as_it_costs(running, limit, rounds):
    assert decodes_before_a_prefill(running, limit=limit, prefill_ms=600, decode_ms=50) == rounds


def test_only_the_ratio_of_the_two_times_matters():
    same = [
        decodes_before_a_prefill(100, limit=150, prefill_ms=600, decode_ms=50),
        decodes_before_a_prefill(100, limit=150, prefill_ms=120, decode_ms=10),
    ]
    assert same[0] == same[1]


def test_a_full_batch_never_yields_to_a_prefill():
    chooser = policy(support_select_batch=True, max_batch_size=200)
    assert not any(chooser.wants_prefill(queues(running=200), 0.0) for _ in range(10_000))
    assert chooser.quiet_decodes(queues(running=200)) is None


def test_the_waste_account_starts_again_when_nothing_waits():
    chooser = policy(support_select_batch=True, max_batch_size=100, prefill_time_ms_per_req=100)
    for _ in range(3):
        assert not chooser.wants_prefill(queues(running=80), 0.0)
    chooser.wants_prefill(queues(waiting=0, running=80), 0.0)
    assert chooser.quiet_decodes(queues(running=80)) == 7  # 100 * 80 / (50 * 20) = 8


@pytest.mark.parametrize("running", [1, 37, 99, 100, 101, 250])
@pytest.mark.parametrize("prefill_ms", [0, 7, 50, 600])
def test_quiet_decodes_are_as_many_as_come_one_by_one(running, prefill_ms):
    more = {"support_select_batch": True, "max_batch_size": 100, "prefill_time_ms_per_req": prefill_ms}
    promised = policy(**more).quiet_decodes(queues(running=running))
    one_by_one = policy(**more)
    count = 0
    while count < 50_000 and not one_by_one.wants_prefill(queues(running=running), 0.0):
        count += 1
    assert count == (50_000 if promised is None else promised)


def test_skipping_quiet_decodes_leaves_the_account_as_stepping_does():
    more = {"support_select_batch": True, "max_batch_size": 100, "prefill_time_ms_per_req": 600}
    skipped, stepped = policy(**more), policy(**more)
    skipped.skip(5, queues(running=90))
    for _ in range(5):
        stepped.wants_prefill(queues(running=90), 0.0)
    assert skipped.quiet_decodes(queues(running=90)) == stepped.quiet_decodes(queues(running=90))


def test_with_the_default_delay_each_arrival_waits_five_milliseconds_however_many_wait():
    chooser = policy(max_prefill_batch_size=4)
    assert not chooser.wants_prefill(queues(waiting=50, oldest_arrival=1.0), 1.0049)
    assert chooser.wants_prefill(queues(waiting=1, oldest_arrival=1.0), 1.005)


def test_a_delay_above_the_default_is_cut_short_by_a_full_prefill_batch():
    chooser = policy(max_prefill_batch_size=4, max_queue_delay_microseconds=500_000)
    assert not chooser.wants_prefill(queues(waiting=3), 0.1)
    assert chooser.wants_prefill(queues(waiting=4), 0.1)


def test_prefill_leaves_five_percent_of_the_blocks_to_decode():
    chooser = policy()
    assert chooser.wants_prefill(queues(free_blocks=50), 1.0)
    assert not chooser.wants_prefill(queues(free_blocks=49), 1.0)


def test_swapped_sequences_come_before_new_ones():
    assert not policy().wants_prefill(queues(swapped=1), 1.0)


def test_select_batch_looks_at_neither_free_blocks_nor_swapped_sequences():
    chooser = policy(support_select_batch=True, max_batch_size=10, prefill_time_ms_per_req=0)
    assert chooser.wants_prefill(queues(running=5, free_blocks=0, swapped=3), 0.0)
