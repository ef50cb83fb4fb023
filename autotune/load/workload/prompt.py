"""Prompt: what one request asks, before any protocol gives it a form."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """Text or token ids, and how many tokens to generate."""

    text: str = ""
    token_ids: tuple[int, ...] = ()
    output_tokens: int | None = None
    """Wanted output length; None leaves it to the workload's max_output_tokens."""
    identity: str = ""
    """The data set's own name of the row, where it has one."""
