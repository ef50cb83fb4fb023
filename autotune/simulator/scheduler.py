"""Scheduler: what every policy of continuous batching offers to whoever owns the clock."""

from typing import Protocol

from autotune.simulator.rounds import Idle, Round
from autotune.simulator.sequence import Sequence


class Scheduler(Protocol):
    """MindIE's and vLLM's rules behind one face. Times are seconds of the caller's clock."""

    preemptions: int
    """Since the start."""

    @property
    def recomputations(self) -> int:
        """Of the preemptions, those whose tokens are computed again."""

    @property
    def running(self) -> int:
        """Sequences that hold blocks and generate."""

    @property
    def waiting(self) -> int:
        """Sequences that wait to be taken in."""

    @property
    def free_blocks(self) -> int:
        """Blocks that nobody holds."""

    def submit(self, sequence: Sequence, now: float) -> None:
        """Queue a sequence. Raises UsageError when it could never be served."""

    def cancel(self, sequence: Sequence) -> None:
        """Take a sequence out."""

    def next_round(self, now: float) -> Round | Idle:
        """Choose what runs next."""

    def complete(self, work: Round, now: float) -> list[Sequence]:
        """The round is done; return the sequences that are finished."""

    def quiet_rounds(self, limit: int) -> int:
        """Decode rounds that are sure to come next with the same sequences and nothing else."""

    def quiet_round(self) -> Round:
        """The first of them."""

    def skip(self, rounds: int) -> None:
        """Take this many of them at once."""
