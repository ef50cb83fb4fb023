"""StepCost: seconds of one forward pass, from a few coefficients."""

from dataclasses import dataclass

from autotune.simulator.rounds import Round, RoundKind


@dataclass(frozen=True, kw_only=True, slots=True)
class StepCost:
    """Affine costs of a pass in seconds; all coefficients at least 0.

    Decode is affine in the running sequences and in the tokens they attend to, prefill in its tokens
    and sequences: the shape that Huawei's own simulator fits to profiler data, without its saturation
    terms.
    """

    decode_base: float
    decode_per_sequence: float
    decode_per_context_token: float = 0.0
    prefill_base: float = 0.0
    prefill_per_token: float = 0.0
    prefill_per_sequence: float = 0.0
    swap_per_block: float = 0.0

    def decode_seconds(self, running: int, context_tokens: int) -> float:
        """One decode of `running` sequences that attend to `context_tokens` tokens together."""
        return (
            self.decode_base
            + self.decode_per_sequence * running
            + self.decode_per_context_token * context_tokens
        )

    def prefill_seconds(self, tokens: int, sequences: int) -> float:
        """One prefill of `sequences` prompts with `tokens` tokens together."""
        return self.prefill_base + self.prefill_per_token * tokens + self.prefill_per_sequence * sequences

    def seconds(self, work: Round) -> float:
        """A whole round, copies to and from the CPU included."""
        if work.kind is RoundKind.PREFILL:
            compute = self.prefill_seconds(work.tokens, len(work.sequences))
        else:
            compute = self.decode_seconds(work.decoding, work.context_tokens)
            compute += self.prefill_per_token * work.prompt_tokens
        return compute + self.swap_per_block * work.swapped_blocks
