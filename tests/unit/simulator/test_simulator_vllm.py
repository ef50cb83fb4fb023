"""vLLM's scheduler: its rules, a plain rewriting of its loop, and a real vLLM on a CPU.

The measured table: vLLM 0.32 on 2 CPU cores, a 4-layer model, 64 tokens in and 192 out, 160 requests by 160
clients, KV cache of 257 blocks of 32 tokens of which one is the null block, max_num_batched_tokens 2048;
generated tokens a second (mean of two runs) and preemptions by --max-num-seqs.
"""

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.errors import UsageError
from autotune.model.settings import Settings
from autotune.simulator.calibrate import MeasuredLaunch, calibrate
from autotune.simulator.closed_loop import ClosedLoop, Load
from autotune.simulator.cost import StepCost
from autotune.simulator.lengths import Lengths, Request
from autotune.simulator.reading import whole_run
from autotune.simulator.rounds import Idle, RoundKind
from autotune.simulator.sequence import Sequence, State
from autotune.simulator.vllm import VllmScheduler
from autotune.simulator.vllm_rules import VllmRules

MEASURED = {8: 1126, 16: 1527, 32: 1978, 48: 2134, 64: 1819, 128: 1707}
PREEMPTED = {8: (0, 0), 16: (0, 0), 32: (0, 0), 48: (57, 58), 64: (157, 160), 128: (162, 164)}
GUESS = StepCost(
    decode_base=0.004,
    decode_per_sequence=2e-4,
    decode_per_context_token=5e-7,
    prefill_per_token=1e-4,
)
TABLE_LOAD = Load(lengths=Lengths((Request(64, 192),)), concurrency=160, requests=160)


def table_rules(limit):
    return VllmRules(blocks=256, max_batch_size=limit, max_num_batched_tokens=2048, cache_block_size=32)


def fitted(limits):
    return calibrate(
        [
            MeasuredLaunch(
                rules=table_rules(limit),
                load=TABLE_LOAD,
                tokens_per_second=MEASURED[limit],
                error=0.05,
            )
            for limit in limits
        ],
        GUESS,
        looseness=1.5,
    )


@pytest.mark.parametrize("limit", MEASURED)
def test_as_many_are_preempted_as_real_vllm_preempts(limit):
    reading = whole_run(table_rules(limit), GUESS, TABLE_LOAD)
    low, high = PREEMPTED[limit]
    assert 0.93 * low <= reading.preemptions <= 1.07 * high


def test_calibrated_on_three_points_it_predicts_the_other_three_and_the_peak():
    fit = fitted((8, 32, 64))
    predicted = {
        limit: whole_run(table_rules(limit), fit.cost, TABLE_LOAD).tokens_per_second for limit in MEASURED
    }
    for limit in (16, 48, 128):
        assert predicted[limit] == pytest.approx(MEASURED[limit], rel=0.15)
    columns = list(MEASURED)
    measured_peak = columns.index(max(MEASURED, key=MEASURED.get))
    predicted_peak = columns.index(max(predicted, key=predicted.get))
    assert abs(measured_peak - predicted_peak) <= 1


class PlainVllm:
    """vLLM's schedule() as it reads: the running first, then the waiting, blocks one request at a time."""

    def __init__(self, rules):
        self.rules = rules
        self.waiting, self.running = deque(), []
        self.free = rules.blocks
        self.state = {}

    def add(self, number, prompt, output):
        self.state[number] = {"prompt": prompt, "output": output, "made": 0, "computed": 0, "held": 0}
        self.waiting.append(number)

    def allocate(self, number, tokens):
        request = self.state[number]
        more = self.rules.blocks_for(request["computed"] + tokens) - request["held"]
        if more > self.free:
            return False
        self.free -= more
        request["held"] += more
        return True

    def preempt(self, number):
        request = self.state[number]
        self.free += request["held"]
        request.update(held=0, computed=0)
        self.waiting.appendleft(number)

    def want(self, number, budget):
        request = self.state[number]
        return min(request["prompt"] + request["made"] - request["computed"], budget)

    def schedule(self):
        budget, scheduled, preempted = self.rules.max_num_batched_tokens, {}, []
        index = 0
        while index < len(self.running) and budget > 0:
            number = self.running[index]
            tokens = self.want(number, budget)
            placed = True
            while not self.allocate(number, tokens):
                victim = self.running.pop()
                self.preempt(victim)
                preempted.append(victim)
                if victim == number:
                    placed = False
                    break
            if not placed:
                break
            scheduled[number] = tokens
            budget -= tokens
            index += 1
        if not preempted:
            self.admit(scheduled, budget)
        return scheduled, preempted

    def admit(self, scheduled, budget):
        while self.waiting and budget > 0 and len(self.running) < self.rules.max_batch_size:
            number = self.waiting[0]
            tokens = self.want(number, budget)
            if not self.rules.chunked_prefill and self.want(number, 10**9) > budget:
                break
            if not self.allocate(number, tokens):
                break
            self.waiting.popleft()
            self.running.append(number)
            scheduled[number] = tokens
            budget -= tokens

    def update(self, scheduled):
        served = []
        for number, tokens in scheduled.items():
            request = self.state[number]
            request["computed"] += tokens
            if request["computed"] == request["prompt"] + request["made"]:
                request["made"] += 1
                served.append(number)
                if request["made"] == request["output"]:
                    self.running.remove(number)
                    self.free += request["held"]
        return served


@st.composite
def scenes(draw):
    limit = draw(st.integers(1, 10))
    rules = VllmRules(
        blocks=draw(st.integers(10, 60)),
        max_batch_size=limit,
        max_num_batched_tokens=draw(st.integers(limit, 90)),
        cache_block_size=8,
    )
    lengths = draw(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 35)), min_size=1, max_size=30))
    arrivals = draw(st.lists(st.integers(0, 60), min_size=len(lengths), max_size=len(lengths)))
    return rules, lengths, sorted(arrivals)


@given(scenes())
@settings(max_examples=150, deadline=None)
def test_every_step_serves_and_preempts_whom_vllm_s_own_loop_would(scene):
    rules, lengths, arrivals = scene
    scheduler, plain = VllmScheduler(rules), PlainVllm(rules)
    pending = deque(zip(range(len(lengths)), lengths, arrivals, strict=True))
    now = 0.0
    while pending or plain.waiting or plain.running:
        while pending and pending[0][2] <= now:
            number, (prompt, output), _ = pending.popleft()
            scheduler.submit(Sequence(number, prompt, output), now)
            plain.add(number, prompt, output)
        scheduled, preempted = plain.schedule()
        work = scheduler.next_round(now)
        now += 1.0
        if isinstance(work, Idle):
            assert not scheduled
            continue
        assert work.tokens == sum(scheduled.values())
        assert [sequence.number for sequence in work.preempted] == preempted
        assert sorted(sequence.number for sequence in work.sequences) == sorted(plain.update(scheduled))
        scheduler.complete(work, now)
        assert scheduler.free_blocks == plain.free
        assert (scheduler.running, scheduler.waiting) == (len(plain.running), len(plain.waiting))
    assert scheduler.free_blocks == rules.blocks


@given(scenes(), st.integers(1, 20))
@settings(max_examples=50, deadline=None)
def test_jumping_gives_what_stepping_gives_under_vllm_s_rules_too(scene, clients):
    rules, lengths, _ = scene
    fitting = tuple(Request(*pair) for pair in lengths if rules.blocks_for(sum(pair)) <= rules.blocks)
    load = Load(lengths=Lengths(fitting or (Request(1, 1),)), concurrency=clients, requests=40)
    runs = [ClosedLoop(VllmScheduler(rules), GUESS, load, jump=jump).run() for jump in (True, False)]
    assert runs[0] == runs[1]
    assert runs[0].completed == 40


def test_a_long_prompt_is_computed_in_pieces_beside_the_decodes():
    scheduler = VllmScheduler(VllmRules(blocks=100, max_batch_size=4, max_num_batched_tokens=16))
    first, second = Sequence(0, 10, 9), Sequence(1, 40, 3)
    scheduler.submit(first, 0.0)
    scheduler.submit(second, 0.0)
    seen = []
    for _ in range(4):
        work = scheduler.next_round(0.0)
        seen.append((work.kind, work.tokens, work.prompt_tokens, [s.number for s in work.sequences]))
        scheduler.complete(work, 0.0)
    assert seen == [
        (RoundKind.MIXED, 16, 16, [0]),
        (RoundKind.MIXED, 16, 15, [0]),
        (RoundKind.MIXED, 16, 15, [0]),
        (RoundKind.MIXED, 5, 4, [0, 1]),
    ]


def test_without_chunked_prefill_a_prompt_waits_for_a_step_that_takes_it_whole():
    scheduler = VllmScheduler(
        VllmRules(blocks=100, max_batch_size=4, max_num_batched_tokens=16, chunked_prefill=False)
    )
    scheduler.submit(Sequence(0, 10, 2), 0.0)
    scheduler.submit(Sequence(1, 10, 2), 0.0)
    assert [sequence.number for sequence in scheduler.next_round(0.0).sequences] == [0]


def test_a_pure_decode_is_padded_to_the_next_gear_and_not_above_the_last():
    rules = VllmRules(blocks=100, max_batch_size=64, gears=(8, 16, 32))
    assert [rules.padding(running) for running in (1, 8, 9, 32, 33)] == [7, 0, 7, 0, 0]
    scheduler = VllmScheduler(rules)
    for number in range(9):
        scheduler.submit(Sequence(number, 4, 5), 0.0)
    scheduler.complete(scheduler.next_round(0.0), 0.0)
    decode = scheduler.next_round(0.0)
    assert (decode.kind, decode.tokens, decode.decoding) == (RoundKind.DECODE, 9, 16)


@pytest.mark.parametrize("steps", range(5))
@pytest.mark.parametrize("in_flight", [False, True])
def test_cancelling_at_any_time_gives_all_blocks_back(steps, in_flight):
    scheduler = VllmScheduler(VllmRules(blocks=50, max_batch_size=3, max_num_batched_tokens=12))
    sequences = [Sequence(number, 10, 4) for number in range(5)]
    for sequence in sequences:
        scheduler.submit(sequence, 0.0)
    for _ in range(steps):
        scheduler.complete(scheduler.next_round(0.0), 0.0)
    work = scheduler.next_round(0.0) if in_flight else None
    for sequence in sequences:
        scheduler.cancel(sequence)
        scheduler.cancel(sequence)
    if in_flight:
        assert scheduler.complete(work, 0.0) == []
    assert scheduler.free_blocks == 50
    assert scheduler.next_round(0.0) == Idle(None)
    assert all(sequence.state in {State.CANCELLED, State.FINISHED} for sequence in sequences)


def test_values_that_vllm_refuses_are_refused():
    with pytest.raises(UsageError, match=r"max_num_batched_tokens \(16\) must be greater than or equal"):
        VllmRules(blocks=10, max_batch_size=32, max_num_batched_tokens=16)
    with pytest.raises(UsageError, match="ascend"):
        VllmRules(blocks=10, gears=(8, 4))
    with pytest.raises(UsageError, match="does not fit"):
        VllmScheduler(VllmRules(blocks=1, max_batch_size=1)).submit(Sequence(0, 100, 100), 0.0)


def test_a_launch_changes_only_what_it_sets():
    rules = table_rules(8)
    assert rules.with_settings(Settings(max_batch_size=48)) == table_rules(48)
    assert rules.with_settings(Settings(max_batch_size=8, max_num_batched_tokens=64)).settings() == Settings(
        max_batch_size=8, max_num_batched_tokens=64
    )
    assert rules.with_batch(4096).max_num_batched_tokens == 4096
