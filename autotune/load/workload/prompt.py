"""Prompt: what one request asks, before any protocol gives it a form."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """Text or token ids, and how many tokens to generate."""

    text: str = ""
    token_ids: tuple[int, ...] = ()
    output_tokens: int | None = None
    """Wanted output length; None leaves it to the workload's max_output_tokens."""
    input_tokens: int | None = None
    """Length of the prompt as the model's tokenizer counts it; None where nobody has counted."""
    wanted_tokens: int | None = None
    """Length that a synthetic prompt was made for."""
    identity: str = ""
    """The data set's own name of the row, where it has one."""
