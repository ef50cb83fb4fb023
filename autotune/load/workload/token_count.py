"""Token count: how long a prompt is, by the model's tokenizer where it can be had, else estimated."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from autotune.errors import UsageError
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.words import CHARACTERS_A_TOKEN

Counter = Callable[[str], int]
_WIDE_CHARACTERS_A_TOKEN = 1.5
"""Chinese and other scripts without blanks."""
_LAST_NARROW = "\u02af"


def estimated_tokens(text: str) -> int:
    """4 characters a token in alphabetic scripts, 1.5 in others."""
    wide = sum(1 for character in text if character > _LAST_NARROW)
    return max(1, round((len(text) - wide) / CHARACTERS_A_TOKEN + wide / _WIDE_CHARACTERS_A_TOKEN))


def counted(prompts: tuple[Prompt, ...], count_tokens: Counter) -> tuple[Prompt, ...]:
    """The same prompts, their lengths written beside them."""
    return tuple(
        prompt if prompt.token_ids else replace(prompt, input_tokens=count_tokens(prompt.text))
        for prompt in prompts
    )


def tokenizer_of(model: Path) -> Counter | None:
    """Counts with the model's tokenizer.json; None when it or the tokenizer extra is not there.

    Raises UsageError when the file is no tokenizer.
    """
    file = _tokenizer_file(model)
    if file is None:
        return None
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return None
    from autotune.load.workload.datasets.files import json_document

    document = json_document(file)
    if not isinstance(document, dict) or "model" not in document:
        raise UsageError(f"{file} is no tokenizer")
    tokenizer = Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text).ids)


def _tokenizer_file(model: Path) -> Path | None:
    try:
        file = model / "tokenizer.json" if model.is_dir() else model
        return file if file.is_file() else None
    except OSError:  # a directory that this user may not enter
        return None
