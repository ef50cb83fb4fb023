"""DecodeSide: the sequences past their prefill, and how MindIE forms a decode round from them."""

from collections import deque
from dataclasses import dataclass

from autotune.simulator.blocks import BlockPool
from autotune.simulator.rounds import Round, RoundKind
from autotune.simulator.rules import MindieRules
from autotune.simulator.running import NUMBER, RunningSet
from autotune.simulator.sequence import Sequence, State


@dataclass(slots=True)
class Shortage:
    """What a lack of blocks cost while a round was formed."""

    preempted: list[Sequence]
    copied_blocks: int = 0

    @property
    def recomputed(self) -> list[Sequence]:
        """Those that must be prefilled again."""
        return [sequence for sequence in self.preempted if sequence.state is State.WAITING]


class DecodeSide:
    """Running and swapped sequences, in MindIE's order.

    A decode serves at most maxBatchSize sequences and looks at twice as many. Those that it passes over
    lead the next one; those that it served go to the end, sorted by number. Who lacks a block takes those
    of the last sequence that the round looks at.
    """

    def __init__(self, rules: MindieRules, pool: BlockPool) -> None:
        self._rules = rules
        self._pool = pool
        self._batch = min(rules.max_batch_size, rules.token_budget)
        self._running = RunningSet(rules.cache_block_size)
        self._passed_over: list[Sequence] = []
        """In the order in which they lead the next decode."""
        self._swapped: deque[Sequence] = deque()
        self._ended: list[Sequence] = []
        """Finished or cancelled, and not yet noticed: they count and hold blocks until the next decode."""
        self._unsorted = False

    @property
    def running(self) -> int:
        """Sequences with blocks on the NPU, those included that have just ended."""
        return len(self._running) + len(self._ended)

    @property
    def ended(self) -> int:
        """Sequences that have ended and are not yet noticed."""
        return len(self._ended)

    @property
    def swapped(self) -> int:
        """Sequences with blocks on the CPU."""
        return len(self._swapped)

    @property
    def is_steady(self) -> bool:
        """True when the next decode serves the same sequences, unless a block is lacking."""
        others = self._unsorted or self._running.resting or self._swapped or self._ended
        return not others and 0 < len(self._running) <= self._batch and self._pool.free > 0

    def add(self, sequence: Sequence) -> None:
        """A sequence comes from its prefill, or back from the CPU."""
        sequence.state = State.RUNNING
        if len(self._running):
            self._unsorted = self._unsorted or self._running.last.number > sequence.number
        self._running.join(sequence)

    def remove(self, sequence: Sequence) -> None:
        """Take a cancelled sequence out; its blocks come back at once or at the next decode."""
        if sequence.state is State.SWAPPED:
            self._swapped.remove(sequence)
            self._pool.drop_swapped(sequence)
            return
        self._take_out(sequence)
        self._ended.append(sequence)

    def linger(self, sequence: Sequence) -> None:
        """A sequence that ended in its prefill holds its blocks until the next decode."""
        self._ended.append(sequence)

    def form(self, *, preempt_one: bool) -> tuple[Round | None, list[Sequence]]:
        """The next decode round, and the sequences that lost their blocks and must be prefilled again."""
        for sequence in self._ended:
            self._pool.release(sequence)
        self._ended.clear()
        spare = self._pass_over()
        shortage = self._make_room(spare, preempt_one=preempt_one)
        copied = shortage.copied_blocks
        if not shortage.preempted:
            copied += self._swap_in()
        if not self._serving:
            return None, shortage.recomputed
        return self.round(tuple(shortage.preempted), copied), shortage.recomputed

    def round(self, preempted: tuple[Sequence, ...] = (), copied_blocks: int = 0) -> Round:
        """A decode of those that are served now."""
        return Round(
            RoundKind.DECODE,
            self._running.served,
            tokens=self._serving,
            context_tokens=self._running.context_tokens,
            swapped_blocks=copied_blocks,
            preempted=preempted,
        )

    def complete(self) -> list[Sequence]:
        """Give each served sequence its token; return those that are finished."""
        finished = self._running.step()
        self._ended += finished
        if self._passed_over or self._unsorted:
            self._sort()
        return finished

    def quiet_steps(self, limit: int) -> int:
        """Decodes, at most `limit`, until somebody finishes or needs a block."""
        return self._running.quiet_steps(limit)

    def skip(self, rounds: int) -> None:
        """Take this many quiet decodes at once."""
        self._running.skip(rounds)

    @property
    def _serving(self) -> int:
        return len(self._running) - self._running.resting

    def _pass_over(self) -> list[Sequence]:
        """Let those above the batch rest; return those of them that the round looks at."""
        if len(self._running) <= self._batch:
            if self._running.resting:
                self._running.rest(())
            self._passed_over = []
            return []
        above = self._running.rest_all_but(self._batch)
        spare = above[: self._batch]
        self._passed_over = sorted(spare, key=NUMBER) + above[self._batch :]
        return spare

    def _sort(self) -> None:
        """Those passed over, which are the last now, go first; those served follow by number."""
        order = self._running.order()
        served = sorted(order[: len(order) - len(self._passed_over)], key=NUMBER)
        self._running.reorder(self._passed_over, served)
        self._unsorted = bool(self._passed_over)  # those that go first now are sorted in once they are served

    def _take_out(self, sequence: Sequence) -> None:
        self._running.leave(sequence)
        if sequence in self._passed_over:
            self._passed_over.remove(sequence)

    def _make_room(self, spare: list[Sequence], *, preempt_one: bool) -> Shortage:
        """Take blocks from the last until every served sequence can go on."""
        shortage = Shortage([])
        swaps = 0
        growing = self._running.growing()
        while self._serving and (preempt_one or self._is_short(growing)):
            preempt_one = False
            victim = spare.pop() if spare else self._running.last_served
            if swaps < self._rules.max_preempt_count and self._pool.cpu_free >= victim.blocks:
                swaps += 1
                shortage.copied_blocks += victim.blocks
                self._swap_out(victim)
            else:
                self._recompute(victim)
            shortage.preempted.append(victim)
            growing = [sequence for sequence in growing if sequence is not victim]
        for sequence in growing:
            self._grow(sequence)
        return shortage

    def _is_short(self, growing: list[Sequence]) -> bool:
        """Whether a served sequence would find no free block when its turn comes.

        MindIE asks for one even where none is needed, so the last in turn must be left one.
        """
        left = self._pool.free - len(growing)
        return left < 0 or (left == 0 and self._running.last_served not in growing)

    def _grow(self, sequence: Sequence) -> None:
        self._pool.free -= 1
        self._running.granted(sequence)

    def _recompute(self, victim: Sequence) -> None:
        self._take_out(victim)
        self._pool.release(victim)
        victim.preemptions += 1
        victim.state = State.WAITING

    def _swap_out(self, victim: Sequence) -> None:
        self._take_out(victim)
        self._pool.swap_out(victim)
        victim.preemptions += 1
        victim.state = State.SWAPPED
        self._swapped.append(victim)

    def _swap_in(self) -> int:
        """Bring back those that fit; return the blocks copied."""
        copied = 0
        while self._swapped and self._serving < self._batch:
            sequence = self._swapped[0]
            if self._rules.blocks_for(sequence.length) > self._pool.free:
                break
            self._swapped.popleft()
            self._pool.swap_in(sequence)
            copied += sequence.blocks
            self.add(sequence)
            if sequence.length > sequence.blocks * self._rules.cache_block_size:
                self._grow(sequence)
        return copied
