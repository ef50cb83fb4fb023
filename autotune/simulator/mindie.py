"""MindieScheduler: MindIE's continuous batching, one round after another.

The caller owns the clock: a simulation adds the cost of each round to its virtual time, an emulated
service waits. One iteration is a prefill or a decode, never both.

    work = scheduler.next_round(now)                    # Round, or Idle
    finished = scheduler.complete(work, now_after_it)

Source: MindIE service parameter documentation; MindIE-LLM's scheduler of 2025-12 to 2026-05, prefill and
decode on one instance, no chunked prefill, synchronous scheduling. As there, a sequence that has ended
counts as running and holds its blocks until the next decode round is formed. (There, one that lies more
than twice maxBatchSize from the front of the queue is noticed still later.)
"""

from autotune.errors import UsageError
from autotune.simulator.blocks import BlockPool
from autotune.simulator.decode_side import DecodeSide
from autotune.simulator.older_decode_side import OlderDecodeSide
from autotune.simulator.rounds import Idle, Round, RoundKind
from autotune.simulator.rules import MindieRules
from autotune.simulator.sequence import Sequence, State
from autotune.simulator.stage import Queues, StagePolicy
from autotune.simulator.waiting import Admission, WaitingQueue


class MindieScheduler:
    """The queues, the blocks and the choice of the next round."""

    def __init__(self, rules: MindieRules) -> None:
        self.rules = rules
        self.preemptions = 0
        """Since the start; swapped out and recomputed together."""
        self.recomputations = 0
        self._pool = BlockPool(blocks=rules.blocks, cpu_blocks=rules.cpu_blocks)
        self._stage = StagePolicy(rules)
        self._waiting = WaitingQueue()
        self._decode = _decode_side(rules, self._pool)
        self._preempt_one = False
        """A new request has waited too long for blocks: the next decode takes some from the last."""
        self._in_flight: Round | None = None

    @property
    def running(self) -> int:
        """Sequences that hold NPU blocks and have had their prefill."""
        return self._decode.running

    @property
    def waiting(self) -> int:
        """Sequences that wait for a prefill."""
        return len(self._waiting)

    @property
    def swapped(self) -> int:
        """Sequences whose blocks are on the CPU."""
        return self._decode.swapped

    @property
    def free_blocks(self) -> int:
        """NPU blocks that nobody holds."""
        return self._pool.free

    @property
    def free_cpu_blocks(self) -> int:
        """CPU blocks that nobody holds."""
        return self._pool.cpu_free

    @property
    def unfinished(self) -> int:
        """Sequences that are anywhere in the scheduler."""
        alive = self.running - self._decode.ended
        return alive + self.waiting + self.swapped + self._prefilling

    def fits(self, prompt_tokens: int, output_tokens: int) -> bool:
        """Whether a sequence of these lengths can ever be served to its end."""
        return self.rules.blocks_for(prompt_tokens + output_tokens) < self.rules.blocks

    def submit(self, sequence: Sequence, now: float) -> None:
        """Queue a sequence that arrives now.

        Raises UsageError when its blocks would be more than there are: MindIE would never finish it.
        """
        if not self.fits(sequence.prompt_tokens, sequence.output_tokens):
            raise UsageError(
                f"a request of {sequence.prompt_tokens} + {sequence.output_tokens} tokens needs more than "
                f"{self.rules.blocks} KV blocks",
                hint="raise the number of blocks or lower the lengths",
            )
        sequence.arrived = now
        sequence.state = State.WAITING
        self._waiting.push(sequence)

    def cancel(self, sequence: Sequence) -> None:
        """Take a sequence out at any time, also while a round with it runs."""
        match sequence.state:
            case State.WAITING:
                self._waiting.remove(sequence)
            case State.PREFILLING:
                pass  # noticed when its prefill is completed
            case State.RUNNING | State.SWAPPED:
                self._decode.remove(sequence)
            case State.FINISHED | State.CANCELLED:
                return
        sequence.state = State.CANCELLED

    def next_round(self, now: float) -> Round | Idle:
        """Choose what runs next; nothing more is chosen until `complete` is called for it."""
        if self._in_flight is not None:
            raise RuntimeError("the last round is not completed")
        while True:
            wanted = self._stage.wants_prefill(self._queues(), now)
            chosen = (self._form_prefill(now) if wanted else None) or self._form_decode()
            if chosen is not None:
                self._in_flight = chosen
                return chosen
            if not self.waiting:
                return Idle(None)
            due = self._stage.due_at(self._queues())
            if due is not None and due > now:
                return Idle(due)

    def complete(self, work: Round, now: float) -> list[Sequence]:
        """Give each sequence of the round its token; return those that are finished."""
        if work is not self._in_flight:
            raise RuntimeError("this round was not given out last")
        self._in_flight = None
        if work.kind is RoundKind.PREFILL:
            finished = self._complete_prefill(work, now)
        else:
            finished = self._decode.complete()
        for sequence in finished:
            sequence.state = State.FINISHED
            sequence.finished = now
        return finished

    def quiet_rounds(self, limit: int) -> int:
        """Decode rounds, at most `limit`, that are sure to come next with the same sequences.

        In them nobody finishes, starts, needs a block or is preempted, as long as nothing is submitted
        or cancelled. `skip` takes them at once.
        """
        if self._in_flight or self._preempt_one or not self._decode.is_steady:
            return 0
        decodes = self._stage.quiet_decodes(self._queues())
        return self._decode.quiet_steps(limit if decodes is None else min(limit, decodes))

    def quiet_round(self) -> Round:
        """The next decode round, when `quiet_rounds` says that there is one."""
        return self._decode.round()

    def skip(self, rounds: int) -> None:
        """Take this many quiet rounds as given out and completed."""
        self._stage.skip(rounds, self._queues())
        self._decode.skip(rounds)

    @property
    def _prefilling(self) -> int:
        work = self._in_flight
        return len(work.sequences) if work is not None and work.kind is RoundKind.PREFILL else 0

    def _queues(self) -> Queues:
        return Queues(
            waiting=len(self._waiting),
            running=self._decode.running,
            swapped=self._decode.swapped,
            free_blocks=self._pool.free,
            oldest_arrival=self._waiting.head.arrived if self._waiting else 0.0,
        )

    def _form_prefill(self, now: float) -> Round | None:
        tokens = count = 0

        def ask(head: Sequence) -> Admission:
            nonlocal tokens, count
            if not self._has_blocks_for(head, now):
                return Admission.STOP
            if count == self.rules.prefill_batch or (
                count and tokens + head.length > self.rules.token_budget
            ):
                return Admission.STOP
            self._pool.allocate(head, self.rules.blocks_for(head.length))
            tokens += head.length
            count += 1
            return Admission.TAKE

        taken = self._waiting.take(2 * self.rules.prefill_batch, ask)
        if not taken:
            return None
        for sequence in taken:
            sequence.state = State.PREFILLING
        return Round(RoundKind.PREFILL, tuple(taken), tokens, 0, prompt_tokens=tokens)

    def _has_blocks_for(self, head: Sequence, now: float) -> bool:
        """Whether the head can be taken in; one that was recomputed must leave a block free."""
        needed = self.rules.blocks_for(head.length)
        if head.generated:
            return needed < self._pool.free
        if needed <= self._pool.free:
            return True
        if now - head.arrived > self.rules.first_token_wait:
            self._preempt_one = self.rules.recompute_threshold is None
        return False

    def _form_decode(self) -> Round | None:
        work, recomputed = self._decode.form(preempt_one=self._preempt_one)
        self._preempt_one = False
        for sequence in recomputed:
            self._waiting.push(sequence)
        self.recomputations += len(recomputed)
        self.preemptions += len(work.preempted) if work is not None else len(recomputed)
        return work

    def _complete_prefill(self, work: Round, now: float) -> list[Sequence]:
        finished = []
        for sequence in work.sequences:
            if sequence.state is State.CANCELLED:
                self._decode.linger(sequence)
                continue
            sequence.add_token()
            if sequence.first_token is None:
                sequence.first_token = now
            if sequence.left:
                self._decode.add(sequence)
            else:
                self._decode.linger(sequence)
                finished.append(sequence)
        return finished


def _decode_side(rules: MindieRules, pool: BlockPool) -> DecodeSide:
    if rules.recompute_threshold is None:
        return DecodeSide(rules, pool)
    return OlderDecodeSide(rules, pool, rules.recompute_threshold)
