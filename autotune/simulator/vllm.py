"""VllmScheduler: vLLM's continuous batching, one step after another.

A step mixes the decode tokens of all running sequences with as many prompt tokens as max_num_batched_tokens
leaves. Blocks are taken from the sequence that was admitted last; it is computed again from its prompt.

Source: vLLM's V1 scheduler, first come first served, no prefix cache, no speculation.
"""

from collections import deque

from autotune.errors import UsageError
from autotune.simulator.blocks import BlockPool
from autotune.simulator.rounds import Idle, Round, RoundKind
from autotune.simulator.running import RunningSet
from autotune.simulator.sequence import Sequence, State
from autotune.simulator.vllm_rules import VllmRules


class VllmScheduler:
    """The queues, the blocks and the choice of the next step."""

    def __init__(self, rules: VllmRules) -> None:
        self.rules = rules
        self.preemptions = 0
        """Since the start; all are recomputations."""
        self._pool = BlockPool(blocks=rules.blocks)
        self._waiting: deque[Sequence] = deque()
        self._decoding = RunningSet(rules.cache_block_size)
        self._partial: Sequence | None = None
        """The sequence whose prompt is computed in pieces; there is at most one, admitted last."""
        self._computed = 0
        """Tokens of it that are computed."""
        self._starting: list[Sequence] = []
        """Their prompts end in the step that runs now."""
        self._in_flight: Round | None = None

    @property
    def recomputations(self) -> int:
        """The same as `preemptions`."""
        return self.preemptions

    @property
    def running(self) -> int:
        """Sequences that were admitted."""
        return len(self._decoding) + (self._partial is not None) + len(self._starting)

    @property
    def waiting(self) -> int:
        """Sequences that wait for a place or for blocks."""
        return len(self._waiting)

    @property
    def free_blocks(self) -> int:
        """Blocks that nobody holds."""
        return self._pool.free

    def submit(self, sequence: Sequence, now: float) -> None:
        """Queue a sequence. Raises UsageError when its blocks would be more than there are."""
        needed = self.rules.blocks_for(sequence.prompt_tokens + sequence.output_tokens)
        if needed > self.rules.blocks:
            raise UsageError(f"a request that needs {needed} KV blocks does not fit into {self.rules.blocks}")
        sequence.arrived = now
        sequence.state = State.WAITING
        self._waiting.append(sequence)

    def cancel(self, sequence: Sequence) -> None:
        """Take a sequence out at any time, also while a step with it runs."""
        match sequence.state:
            case State.WAITING:
                self._waiting.remove(sequence)
            case State.RUNNING:
                self._decoding.leave(sequence)
            case State.PREFILLING:
                self._forget(sequence)
            case State.FINISHED | State.CANCELLED | State.SWAPPED:
                return
        self._pool.release(sequence)
        sequence.state = State.CANCELLED

    def next_round(self, now: float) -> Round | Idle:
        """Choose the next step; nothing more is chosen until `complete` is called for it."""
        del now  # nothing here depends on time
        if self._in_flight is not None:
            raise RuntimeError("the last round is not completed")
        preempted = self._make_room()
        budget = self.rules.max_num_batched_tokens - len(self._decoding)
        prompt_tokens = self._continue_partial(budget, preempted)
        if not preempted:
            prompt_tokens += self._admit(budget - prompt_tokens)
        if not prompt_tokens and not len(self._decoding):
            return Idle(None)
        self._in_flight = self._round(prompt_tokens, tuple(preempted))
        return self._in_flight

    def complete(self, work: Round, now: float) -> list[Sequence]:
        """Give each sequence of the step its token; return those that are finished."""
        if work is not self._in_flight:
            raise RuntimeError("this round was not given out last")
        self._in_flight = None
        finished = self._decoding.step() + self._complete_prompts(now)
        for sequence in finished:
            sequence.state = State.FINISHED
            sequence.finished = now
            self._pool.release(sequence)
        return finished

    def quiet_rounds(self, limit: int) -> int:
        """Pure decode steps, at most `limit`, that are sure to come next with the same sequences."""
        if self._in_flight or self._partial is not None or not len(self._decoding):
            return 0
        if self._waiting and len(self._decoding) < self.rules.max_batch_size:
            head = self._waiting[0]
            chunk = min(head.length, self.rules.max_num_batched_tokens - len(self._decoding))
            if self.rules.blocks_for(max(1, chunk)) <= self._pool.free:
                return 0
        return self._decoding.quiet_steps(limit)

    def quiet_round(self) -> Round:
        """The next of them."""
        return self._round(0, ())

    def skip(self, rounds: int) -> None:
        """Take this many of them at once."""
        self._decoding.skip(rounds)

    def _round(self, prompt_tokens: int, preempted: tuple[Sequence, ...]) -> Round:
        decoding = len(self._decoding)
        pure = prompt_tokens == 0
        return Round(
            RoundKind.DECODE if pure else RoundKind.MIXED,
            (*self._decoding.served, *self._starting),
            tokens=decoding + prompt_tokens,
            context_tokens=self._decoding.context_tokens,
            preempted=preempted,
            prompt_tokens=prompt_tokens,
            padding=self.rules.padding(decoding) if pure else 0,
        )

    def _make_room(self) -> list[Sequence]:
        """Give a block to each decoding sequence that needs one, taking from the last."""
        preempted: list[Sequence] = []
        growing = self._decoding.growing()
        while self._pool.free < len(growing):
            victim = self._partial or self._decoding.last
            self._preempt(victim)
            preempted.append(victim)
            growing = [sequence for sequence in growing if sequence is not victim]
        for sequence in growing:
            self._pool.free -= 1
            self._decoding.granted(sequence)
        return preempted

    def _preempt(self, victim: Sequence) -> None:
        if victim is self._partial:
            self._partial = None
        else:
            self._decoding.leave(victim)
        self._pool.release(victim)
        self.preemptions += 1
        victim.preemptions += 1
        victim.state = State.WAITING
        self._waiting.appendleft(victim)

    def _continue_partial(self, budget: int, preempted: list[Sequence]) -> int:
        """Compute the next piece of the partial prompt; return its tokens."""
        partial = self._partial
        if partial is None or budget <= 0:
            return 0
        chunk = min(partial.length - self._computed, budget)
        more = self.rules.blocks_for(self._computed + chunk) - partial.blocks
        if more > self._pool.free:
            self._preempt(partial)
            preempted.append(partial)
            return 0
        self._pool.free -= more
        partial.blocks += more
        self._compute(partial, chunk)
        return chunk

    def _admit(self, budget: int) -> int:
        """Take sequences in while places, tokens and blocks last; return their prompt tokens."""
        begin = budget
        while self._waiting and budget > 0 and self.running < self.rules.max_batch_size:
            head = self._waiting[0]
            if head.length > budget and not self.rules.chunked_prefill:
                break
            chunk = min(head.length, budget)
            needed = self.rules.blocks_for(chunk)
            if needed > self._pool.free:
                break
            self._waiting.popleft()
            self._pool.allocate(head, needed)
            head.state = State.PREFILLING
            self._partial, self._computed = head, 0
            self._compute(head, chunk)
            budget -= chunk
        return begin - budget

    def _compute(self, sequence: Sequence, chunk: int) -> None:
        self._computed += chunk
        if self._computed == sequence.length:
            self._partial = None
            self._starting.append(sequence)

    def _complete_prompts(self, now: float) -> list[Sequence]:
        finished = []
        for sequence in self._starting:
            sequence.add_token()
            if sequence.first_token is None:
                sequence.first_token = now
            if sequence.left:
                sequence.state = State.RUNNING
                self._decoding.join(sequence)
            else:
                finished.append(sequence)
        self._starting = []
        return finished

    def _forget(self, sequence: Sequence) -> None:
        """Drop a sequence whose prompt is being computed."""
        if sequence is self._partial:
            self._partial = None
        else:
            self._starting.remove(sequence)
