"""OlderDecodeSide: what MindIE before 3.x does when blocks run out.

A sequence that lacks a block sits out until one is free. Recomputation starts only when the blocks of
those that can go on are less than a share (MIES_RECOMPUTE_THRESHOLD) of all. There is no swapping here.
"""

from autotune.simulator.blocks import BlockPool
from autotune.simulator.decode_side import DecodeSide, Shortage
from autotune.simulator.rules import MindieRules
from autotune.simulator.running import NUMBER
from autotune.simulator.sequence import Sequence


class OlderDecodeSide(DecodeSide):
    """A DecodeSide with sequences that sit out."""

    def __init__(self, rules: MindieRules, pool: BlockPool, threshold: float) -> None:
        super().__init__(rules, pool)
        self._least_going = threshold * rules.blocks

    def _make_room(self, spare: list[Sequence], *, preempt_one: bool) -> Shortage:
        del spare, preempt_one  # both belong to 3.x
        shortage = Shortage([])
        starved = self._feed()
        while starved and self._held_by_served() < self._least_going:
            victim = starved.pop()
            self._recompute(victim)
            shortage.preempted.append(victim)
            starved = self._feed()
        return shortage

    def _feed(self) -> list[Sequence]:
        """Give the free blocks to the oldest that lack one; the others sit out and are returned."""
        self._running.rest(self._passed_over)
        starved = []
        for sequence in sorted(self._running.growing(), key=NUMBER):
            if self._pool.free:
                self._grow(sequence)
            else:
                starved.append(sequence)
        self._running.rest([*self._passed_over, *starved])
        return starved

    def _held_by_served(self) -> int:
        return sum(sequence.blocks for sequence in self._running.served)
