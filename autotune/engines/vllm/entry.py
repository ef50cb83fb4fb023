"""Entry: which of vLLM's servers a command line starts, and where its arguments begin."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, unique
from pathlib import PurePosixPath
from typing import Final

from autotune.engines.vllm.flags import flag_name


@unique
class Interface(Enum):
    """What the server speaks."""

    OPENAI = "openai"
    """/v1/completions and the like."""
    GENERATE = "generate"
    """/generate of vLLM's demonstration server."""


_MODULES: Final = {
    "vllm.entrypoints.openai.api_server": Interface.OPENAI,
    "vllm.entrypoints.api_server": Interface.GENERATE,
}
_FILES: Final = {
    "vllm/entrypoints/openai/api_server.py": Interface.OPENAI,
    "vllm/entrypoints/api_server.py": Interface.GENERATE,
}
_CLI_MODULES: Final = {"vllm", "vllm.entrypoints.cli.main"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A server that words start."""

    interface: Interface
    arguments: int
    """Index of the first word after the server's name."""
    takes_model: bool
    """Whether a word that is no flag names the model (`vllm serve MODEL`)."""


def find_entry(words: Sequence[str]) -> Entry | None:
    """The first server that these words start; None when they start none."""
    for index, word in enumerate(words):
        interface = _module_at(words, index) or _file_named(word)
        if interface is not None:
            return Entry(interface=interface, arguments=index + 1, takes_model=False)
        if _is_command(words, index) and index + 1 < len(words) and words[index + 1] == "serve":
            return Entry(interface=Interface.OPENAI, arguments=index + 2, takes_model=True)
    return None


def positional_model(arguments: Sequence[str], entry: Entry) -> str | None:
    """MODEL of `vllm serve MODEL`, which stands first; None when it stands elsewhere or nowhere."""
    if entry.takes_model and arguments and flag_name(arguments[0]) is None:
        return arguments[0]
    return None


def _module_at(words: Sequence[str], index: int) -> Interface | None:
    return _MODULES.get(words[index]) if index and words[index - 1] == "-m" else None


def _file_named(word: str) -> Interface | None:
    return next((interface for name, interface in _FILES.items() if f"/{word}".endswith(f"/{name}")), None)


def _is_command(words: Sequence[str], index: int) -> bool:
    if index and words[index - 1] == "-m":
        return words[index] in _CLI_MODULES
    return PurePosixPath(words[index]).name == "vllm"
