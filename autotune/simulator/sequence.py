"""Sequence: one request inside a scheduler, from submission to its last token."""

from dataclasses import dataclass, field
from enum import Enum, unique


@unique
class State(Enum):
    """Where a sequence is."""

    WAITING = "waiting"
    PREFILLING = "prefilling"
    RUNNING = "running"
    SWAPPED = "swapped"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Steps:
    """Counts the decode rounds of a scheduler, so that a round need not touch each of its sequences."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


_NONE = Steps()
"""The counter of a sequence that does not decode: it stays at 0."""


@dataclass(slots=True, eq=False)
class Sequence:
    """One request; the scheduler it was submitted to owns every field below `arrived`."""

    number: int
    """Order of submission; unique in a scheduler. MindIE sorts its queues by it."""
    prompt_tokens: int
    output_tokens: int
    """Tokens that it will generate: known beforehand in a simulation."""
    arrived: float = 0.0
    """Seconds."""
    state: State = State.WAITING
    blocks: int = 0
    """KV blocks held, on the NPU or (swapped) on the CPU."""
    preemptions: int = 0
    first_token: float | None = None
    """When its first prefill was completed, in seconds."""
    finished: float | None = None
    """When its last token was there, in seconds."""
    lead: int = 0
    """Tokens generated, less the steps of the counter that counts for it."""
    _steps: Steps = field(default=_NONE, repr=False)

    @property
    def generated(self) -> int:
        """Tokens generated up to the last completed round."""
        return self.lead + self._steps.count

    @property
    def length(self) -> int:
        """Prompt and generated tokens."""
        return self.prompt_tokens + self.lead + self._steps.count

    @property
    def left(self) -> int:
        """Tokens still to generate."""
        return self.output_tokens - self.lead - self._steps.count

    def add_token(self) -> None:
        """Count one token of a round that is not counted by steps, such as a prefill."""
        self.lead += 1

    def start_decoding(self, steps: Steps) -> int:
        """From now on every step of `steps` is one token of this sequence; return those it has."""
        generated = self.lead
        self.lead -= steps.count
        self._steps = steps
        return generated

    def stop_decoding(self) -> int:
        """Steps no longer count for this sequence; the tokens that it has are kept, and returned."""
        self.lead += self._steps.count
        self._steps = _NONE
        return self.lead
