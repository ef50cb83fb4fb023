"""Round: what a scheduler runs next on the device, as a value; or Idle, when there is nothing to run."""

from dataclasses import dataclass
from enum import Enum, unique

from autotune.simulator.sequence import Sequence


@unique
class RoundKind(Enum):
    """What a round computes."""

    PREFILL = "prefill"
    DECODE = "decode"
    MIXED = "mixed"
    """vLLM only: decode tokens and pieces of prompts in one step."""


@dataclass(frozen=True, slots=True)
class Round:
    """One forward pass. When it is completed, each of its sequences has got one token."""

    kind: RoundKind
    sequences: tuple[Sequence, ...]
    tokens: int
    """Tokens computed: prompt (and recomputed) tokens of a prefill; one a sequence of a decode."""
    context_tokens: int
    """Tokens that the decoding sequences attend to; 0 in a prefill."""
    swapped_blocks: int = 0
    """Blocks copied between NPU and CPU, in both directions, before the pass."""
    preempted: tuple[Sequence, ...] = ()
    """Sequences that lost their blocks while this round was formed (swapped out or to be recomputed)."""
    prompt_tokens: int = 0
    """Of `tokens`, those of prompts and recomputation."""
    padding: int = 0
    """Tokens computed for nothing, because a captured graph has a fixed size; not in `tokens`."""

    @property
    def decoding(self) -> int:
        """Sequences whose decode step is in this pass, padding included."""
        return self.tokens - self.prompt_tokens + self.padding


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing to run before `until` (seconds), or before the next submission when None."""

    until: float | None
