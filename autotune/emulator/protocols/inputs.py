"""Prompts of requests: their checks, their length, and what becomes of those that are too long."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from autotune.emulator import ask, parameters
from autotune.emulator.parameters import invalid
from autotune.emulator.protocols.reply import Model
from autotune.emulator.responses import dump

TEXT_HIGH: Final = 4194304
"""Most characters of a prompt."""
TOKENS_HIGH: Final = 1048576


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt that the service takes."""

    text: str
    tokens: int
    hashed: int


def text_prompt(value: object, model: Model, *, name: str, range_text: str) -> Prompt:
    """A prompt from a string, or from the parts of a multimodal one. Raises Rejected."""
    if isinstance(value, list):
        if not value:
            raise invalid(f"{name} arr is empty")
        text = dump(value)
    elif isinstance(value, str):
        text = value
    else:
        raise invalid(f"The type of {name.lower()} is abnormal")
    if not 0 < len(text) <= TEXT_HIGH:
        raise invalid(range_text.format(high=TEXT_HIGH, length=len(text)))
    return _fitted(
        Prompt(text=text, tokens=ask.count_tokens(text), hashed=ask.hash_text(text, model.seed)), model
    )


def ids_prompt(ids: list[int], model: Model) -> Prompt:
    """A prompt of token ids. Raises Rejected."""
    if not 0 < len(ids) <= TOKENS_HIGH:
        raise invalid(f"Inputs token length must be in (0, {TOKENS_HIGH}], but got {len(ids)}")
    return _fitted(Prompt(text="", tokens=len(ids), hashed=ask.hash_ids(ids, model.seed)), model)


def _fitted(prompt: Prompt, model: Model) -> Prompt:
    high = model.max_input_tokens
    if prompt.tokens <= high:
        return prompt
    if not model.truncation:
        raise invalid(
            f"This model's maximum input ids length cannot be greater than {high},"
            f"the input ids length is {prompt.tokens}"
        )
    return Prompt(text=prompt.text, tokens=high, hashed=prompt.hashed)


def ignores_end(body: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether the reply must have all of its tokens.

    The OpenAI and vLLM interfaces know ignore_eos; here it counts wherever a client puts it.
    """
    return parameters.boolean(body, "ignore_eos") or parameters.boolean(values, "ignore_eos")
