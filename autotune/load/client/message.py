"""Message: a request as bytes."""

from dataclasses import dataclass


@dataclass(kw_only=True, slots=True)
class Message:
    """A request as bytes, and what was asked with it. Not frozen, since one is made for every request."""

    data: bytes
    asked_tokens: int
    ignore_eos: bool
    streaming: bool
    prompt_tokens: int | None = None
    """As somebody has counted them before, for services that do not tell."""
