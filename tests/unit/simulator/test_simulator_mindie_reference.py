"""The scheduler against a plain rewriting of MindIE's loop that touches every sequence in every round."""

from collections import deque

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.rounds import Idle, RoundKind
from autotune.simulator.rules import MindieRules
from autotune.simulator.sequence import Sequence


class PlainSequence:
    def __init__(self, number, prompt, output, arrived):
        self.number, self.prompt, self.output, self.arrived = number, prompt, output, arrived
        self.generated = 0
        self.held = 0

    @property
    def length(self):
        return self.prompt + self.generated


class PlainMindie:
    """Queues as lists, blocks one sequence at a time: slow, and as MindIE's source reads."""

    def __init__(self, rules):
        self.rules = rules
        self.waiting, self.running, self.swapped = deque(), deque(), deque()
        self.free, self.cpu_free = rules.blocks, rules.cpu_blocks
        self.waste = 0
        self.new_first = False
        self.last_empty = False

    def blocks(self, tokens):
        return (tokens + self.rules.cache_block_size - 1) // self.rules.cache_block_size

    def prefill_first(self, now):
        rules = self.rules
        if self.last_empty and self.running:
            return False
        if rules.support_select_batch:
            if not self.waiting:
                self.waste = 0
                return False
            if len(self.running) <= rules.max_batch_size:
                self.waste += rules.decode_time_ms_per_req * (rules.max_batch_size - len(self.running))
            if rules.prefill_time_ms_per_req * len(self.running) > self.waste:
                return False
            self.waste = 0
            return True
        due = False
        if self.waiting:
            full = len(self.waiting) >= rules.prefill_batch
            late = now >= self.waiting[0].arrived + rules.queue_delay
            due = late or (rules.max_queue_delay_microseconds > 5000 and full)
        return not self.swapped and due and self.free >= int(0.05 * rules.blocks)

    def prefill(self, now):
        window = []
        while self.waiting and len(window) < 2 * self.rules.prefill_batch:
            window.append(self.waiting.popleft())
        window = deque([s for s in window if not s.generated] + [s for s in window if s.generated])
        taken, tokens = [], 0
        while window:
            head = window[0]
            needed = self.blocks(head.length)
            if needed == self.free and head.generated:
                break
            if needed > self.free:
                if not head.generated and now - head.arrived > self.rules.first_token_wait:
                    self.new_first = True
                break
            too_many = len(taken) + 1 > self.rules.prefill_batch
            if too_many or (taken and tokens + head.length > self.rules.token_budget):
                break
            window.popleft()
            head.held = needed
            self.free -= needed
            tokens += head.length
            taken.append(head)
        for left in sorted(window, key=lambda s: -s.number):
            self.waiting.appendleft(left)
        return taken

    def decode(self):
        batch = min(self.rules.max_batch_size, self.rules.token_budget)
        window = deque()
        ended = [s for s in self.running if s.generated == s.output]
        self.free += sum(s.held for s in ended)
        self.running = deque(s for s in self.running if s.generated < s.output)
        while self.running and len(window) < 2 * batch:
            window.append(self.running.popleft())
        served, evicted = [], []
        self.swaps = 0
        while window and len(served) < batch:
            head = window.popleft()
            if self.make_room(head, window, evicted):
                if head.length > head.held * self.rules.cache_block_size:
                    head.held += 1
                    self.free -= 1
                served.append(head)
        if not evicted:
            self.swap_in(served, batch)
        served.sort(key=lambda s: s.number)
        self.running.extend(served)
        for left in sorted(window, key=lambda s: -s.number):
            self.running.appendleft(left)
        return served, evicted

    def make_room(self, head, window, evicted):
        while self.free < 1 or self.new_first:
            victim = window.pop() if window else head
            evicted.append(victim)
            self.free += victim.held
            if self.swaps < self.rules.max_preempt_count and self.cpu_free >= victim.held:
                self.swaps += 1
                self.cpu_free -= victim.held
                self.swapped.append(victim)
            else:
                victim.held = 0
                self.waiting.append(victim)
            self.new_first = False
            if victim is head:
                return False
        return True

    def swap_in(self, served, batch):
        while self.swapped and len(served) < batch:
            head = self.swapped[0]
            if self.blocks(head.length) > self.free:
                break
            self.swapped.popleft()
            self.free -= self.blocks(head.length)
            self.cpu_free += head.held
            head.held = self.blocks(head.length)
            served.append(head)

    def round(self, now):
        for _ in range(3):
            if self.prefill_first(now):
                taken = self.prefill(now)
                self.last_empty = not taken
                if taken:
                    return "prefill", taken, []
                continue
            served, evicted = self.decode()
            self.last_empty = not served
            if served or not (self.waiting or self.swapped):
                return "decode", served, evicted
        return "idle", [], []

    def complete(self, kind, sequences):
        for sequence in sequences:
            sequence.generated += 1
        if kind == "prefill":
            self.running.extend(sequences)


def rules_of(draw):
    preempt = draw(st.sampled_from([0, 0, 1, 3]))
    return MindieRules(
        blocks=draw(st.integers(24, 80)),
        max_batch_size=draw(st.integers(1, 14)),
        max_prefill_batch_size=draw(st.integers(1, 8)),
        max_prefill_tokens=draw(st.integers(40, 200)),
        max_seq_len=60,
        cache_block_size=8,
        cpu_blocks=16 if preempt else 0,
        max_preempt_count=preempt,
        support_select_batch=draw(st.booleans()),
        prefill_time_ms_per_req=draw(st.sampled_from([0, 10, 50, 200])),
        max_queue_delay_microseconds=draw(st.sampled_from([500, 5000, 2_000_000])),
        max_first_token_wait_ms=draw(st.sampled_from([0, 500, 5000])),
    )


@st.composite
def scenes(draw):
    lengths = draw(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 40)), min_size=1, max_size=40))
    arrivals = draw(st.lists(st.integers(0, 60), min_size=len(lengths), max_size=len(lengths)))
    return rules_of(draw), lengths, sorted(arrivals)


PASSED_OVER_THEN_SHORT = (
    MindieRules(
        blocks=24,
        max_batch_size=5,
        max_prefill_batch_size=2,
        max_prefill_tokens=40,
        max_seq_len=60,
        cache_block_size=8,
        support_select_batch=False,
        prefill_time_ms_per_req=0,
        max_queue_delay_microseconds=500,
        max_first_token_wait_ms=0,
    ),
    [(1, 1)] * 8 + [(8, 26), (17, 25), (25, 25), (1, 2), (1, 17), (3, 16)],
    [0] * 8 + [41, 43, 43, 52, 52, 52],
)
"""A sequence that went first because it was passed over is the last again once it is served."""


@pytest.mark.slow
@given(scenes())
@example(PASSED_OVER_THEN_SHORT)
@settings(max_examples=150, deadline=None)
def test_every_round_serves_and_preempts_whom_mindies_own_loop_would(scene):
    rules, lengths, arrivals = scene
    scheduler, plain = MindieScheduler(rules), PlainMindie(rules)
    pending = deque(zip(range(len(lengths)), lengths, arrivals, strict=True))
    now, idle_rounds = 0.0, 0
    while idle_rounds < 5:
        while pending and pending[0][2] <= now:
            number, (prompt, output), _ = pending.popleft()
            scheduler.submit(Sequence(number, prompt, output), now)
            plain.waiting.append(PlainSequence(number, prompt, output, now))
        kind, expected, evicted = plain.round(now)
        work = scheduler.next_round(now)
        if isinstance(work, Idle):
            assert not expected
            now += 1.0
            idle_rounds += not pending and work.until is None
            continue
        assert work.kind is RoundKind(kind)
        assert sorted(s.number for s in work.sequences) == sorted(s.number for s in expected)
        assert [s.number for s in work.preempted] == [s.number for s in evicted]
        plain.complete(kind, expected)
        now += 1.0
        scheduler.complete(work, now)
        assert scheduler.free_blocks == plain.free
        assert scheduler.running == len(plain.running)
        assert scheduler.waiting == len(plain.waiting)
        assert scheduler.swapped == len(plain.swapped)
    assert scheduler.unfinished == 0
