"""Command words: those of engine.command once the profile's own places are put in."""

from collections.abc import Mapping
from pathlib import Path

from autotune.errors import UsageError


def command_words(words: tuple[str, ...], home: Path, model: Path | None) -> tuple[str, ...]:
    """The words with `{home}` and `{model}` replaced by engine.home and model.path.

    So a profile can name a virtual environment and a model relative to itself. Nothing else is replaced:
    braces of JSON arguments stay. Raises UsageError for `{model}` without a model.path.
    """
    if model is None and any("{model}" in word for word in words):
        raise UsageError("engine.command says {model}, and the profile has no model.path")
    values: Mapping[str, str] = {"{home}": str(home), "{model}": str(model)}
    replaced = list(words)
    for name, value in values.items():
        replaced = [word.replace(name, value) for word in replaced]
    return tuple(replaced)
