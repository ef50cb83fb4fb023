"""Work: what a run made the device do, counted so that its time is linear in the step costs."""

from dataclasses import dataclass, fields

from autotune.simulator.cost import StepCost
from autotune.simulator.rounds import Round, RoundKind


@dataclass(slots=True)
class Work:
    """Sums over the rounds of a run; each is the weight of one coefficient of `StepCost`."""

    decodes: int = 0
    decode_sequences: int = 0
    context_tokens: int = 0
    prefills: int = 0
    prefill_tokens: int = 0
    prefill_sequences: int = 0
    swapped_blocks: int = 0

    def add(self, done: Round) -> None:
        """Count one round."""
        if done.kind is RoundKind.PREFILL:
            self.prefills += 1
            self.prefill_sequences += len(done.sequences)
        else:
            self.decodes += 1
            self.decode_sequences += done.decoding
            self.context_tokens += done.context_tokens
        self.prefill_tokens += done.prompt_tokens
        self.swapped_blocks += done.swapped_blocks

    def add_quiet(self, first: Round, rounds: int) -> None:
        """Count this many quiet decodes, of which `first` is the first."""
        served = len(first.sequences)
        self.decodes += rounds
        self.decode_sequences += rounds * first.decoding
        self.context_tokens += rounds * first.context_tokens + served * (rounds * (rounds - 1) // 2)

    def copy(self) -> "Work":
        """The sums so far."""
        return Work(*(getattr(self, field.name) for field in fields(self)))

    def since(self, earlier: "Work") -> "Work":
        """What was done after `earlier` was copied."""
        return Work(*(getattr(self, field.name) - getattr(earlier, field.name) for field in fields(self)))

    def weights(self) -> tuple[int, ...]:
        """The sums in the order of `COEFFICIENTS`."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def seconds(self, cost: StepCost) -> float:
        """Time of all rounds without noise."""
        pairs = zip(self.weights(), coefficients(cost), strict=True)
        return sum(weight * coefficient for weight, coefficient in pairs)


COEFFICIENTS = (
    "decode_base",
    "decode_per_sequence",
    "decode_per_context_token",
    "prefill_base",
    "prefill_per_token",
    "prefill_per_sequence",
    "swap_per_block",
)
"""The fields of StepCost that the sums of Work belong to, in order."""


def coefficients(cost: StepCost) -> tuple[float, ...]:
    """The step costs in the order of `COEFFICIENTS`, in seconds."""
    return tuple(float(getattr(cost, name)) for name in COEFFICIENTS)
