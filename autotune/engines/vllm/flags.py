"""Flags of vLLM's command line: found in a list of words in every spelling, and where their values stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, unique
from typing import Final

from autotune.errors import Refused


@unique
class Flag(Enum):
    """The flags that this tool reads or sets, as vLLM's help writes them, without the dashes before."""

    MAX_NUM_SEQS = "max-num-seqs"
    MAX_NUM_BATCHED_TOKENS = "max-num-batched-tokens"
    MAX_MODEL_LEN = "max-model-len"
    MODEL = "model"
    SERVED_MODEL_NAME = "served-model-name"
    HOST = "host"
    PORT = "port"
    UDS = "uds"
    API_KEY = "api-key"
    SSL_CERTFILE = "ssl-certfile"
    BLOCK_SIZE = "block-size"
    NUM_GPU_BLOCKS_OVERRIDE = "num-gpu-blocks-override"
    TENSOR_PARALLEL_SIZE = "tensor-parallel-size"
    TENSOR_PARALLEL_SHORT = "tp"
    PIPELINE_PARALLEL_SIZE = "pipeline-parallel-size"
    DATA_PARALLEL_SIZE = "data-parallel-size"
    NUM_SCHEDULER_STEPS = "num-scheduler-steps"
    ENABLE_CHUNKED_PREFILL = "enable-chunked-prefill"
    NO_ENABLE_CHUNKED_PREFILL = "no-enable-chunked-prefill"
    ENFORCE_EAGER = "enforce-eager"
    CUDAGRAPH_CAPTURE_SIZES = "cudagraph-capture-sizes"
    ADDITIONAL_CONFIG = "additional-config"
    COMPILATION_CONFIG = "compilation-config"
    COMPILATION_SHORT = "O"
    SPECULATIVE_CONFIG = "speculative-config"
    CONFIG = "config"
    HEADLESS = "headless"
    NNODES = "nnodes"


_UNITS: Final = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}
_NUMBER: Final = re.compile(r"(\d+(?:\.\d+)?)([kmgKMG]?)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a flag stands among the words."""

    index: int
    """The word with the flag's name."""
    joined: bool
    """True for `--flag=value`, whose value is in the same word."""

    @property
    def value_index(self) -> int:
        """The word that holds the value."""
        return self.index if self.joined else self.index + 1


def flag_name(word: str) -> str | None:
    """The flag's name with dashes, as vLLM's parser reads it: `--max_num_seqs=4` is max-num-seqs."""
    if not word.startswith("-") or word in {"-", "--"}:
        return None
    return word.lstrip("-").partition("=")[0].replace("_", "-")


def find(words: Sequence[str], flag: Flag) -> Place | None:
    """The last occurrence, which is the one that counts; None when there is none."""
    for index in range(len(words) - 1, -1, -1):
        if flag_name(words[index]) == flag.value:
            return Place(index, "=" in words[index])
    return None


def text_of(words: Sequence[str], flag: Flag) -> str | None:
    """The flag's value; None when the flag is absent or has no value."""
    place = find(words, flag)
    if place is None:
        return None
    if place.joined:
        return words[place.index].partition("=")[2]
    value = words[place.value_index] if place.value_index < len(words) else None
    return None if value is None or flag_name(value) is not None else value


def texts_of(words: Sequence[str], flag: Flag) -> tuple[str, ...]:
    """All values of a flag that takes several."""
    place = find(words, flag)
    if place is None:
        return ()
    values = [words[place.index].partition("=")[2]] if place.joined else []
    for word in words[place.index + 1 :]:
        if flag_name(word) is not None:
            break
        values.append(word)
    return tuple(values)


def has(words: Sequence[str], flag: Flag) -> bool:
    """Whether the flag stands there, with or without a value."""
    return find(words, flag) is not None


def number_of(words: Sequence[str], flag: Flag) -> int | None:
    """The flag as a whole number, also written 4k (4000) or 4K (4096); None when it is absent.

    Raises Refused when it stands there with something else.
    """
    if find(words, flag) is None:
        return None
    text = text_of(words, flag) or ""
    found = _NUMBER.fullmatch(text)
    if found is None or ("." in found[1] and not found[2]):
        raise Refused(
            f"--{flag.value} {text or 'without a value'} is not a whole number",
            hint=f"write the number itself: --{flag.value}=256",
        )
    return int(float(found[1]) * _UNITS.get(found[2], 1))
