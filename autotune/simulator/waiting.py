"""WaitingQueue: the sequences that wait for a prefill, in MindIE's order."""

from collections.abc import Callable
from enum import Enum, unique
from itertools import takewhile
from operator import attrgetter

from autotune.simulator.sequence import Sequence


@unique
class Admission(Enum):
    """What becomes of the head of the queue."""

    TAKE = "take"
    STOP = "stop"


class WaitingQueue:
    """First come first served, with one twist.

    A prefill looks at the first `2 * maxPrefillBatchSize` sequences. Among them the new ones go before
    those that are to be recomputed; what is not taken goes back to the front, sorted by number. A
    sequence that lost its blocks enters at the end.
    """

    def __init__(self) -> None:
        self._queue: list[Sequence] = []
        self._recomputed = 0

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def head(self) -> Sequence:
        """The sequence at the front."""
        return self._queue[0]

    def push(self, sequence: Sequence) -> None:
        """Add at the end."""
        self._queue.append(sequence)
        self._recomputed += sequence.preemptions > 0

    def remove(self, sequence: Sequence) -> None:
        """Take a sequence out, wherever it is."""
        self._queue.remove(sequence)
        self._recomputed -= sequence.preemptions > 0

    def take(self, window: int, ask: Callable[[Sequence], Admission]) -> list[Sequence]:
        """Take sequences from the front of the window until `ask` says stop."""
        if self._recomputed:
            return self._take_among(window, ask)
        taken = list(takewhile(lambda sequence: ask(sequence) is Admission.TAKE, self._queue[:window]))
        del self._queue[: len(taken)]
        return taken

    def _take_among(self, window: int, ask: Callable[[Sequence], Admission]) -> list[Sequence]:
        seen = self._queue[:window]
        order = [sequence for sequence in seen if not sequence.preemptions]
        order += [sequence for sequence in seen if sequence.preemptions]
        taken = list(takewhile(lambda sequence: ask(sequence) is Admission.TAKE, order))
        self._queue[:window] = sorted(order[len(taken) :], key=attrgetter("number"))
        self._recomputed -= sum(sequence.preemptions > 0 for sequence in taken)
        return taken
