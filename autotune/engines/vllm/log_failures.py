"""Why vLLM did not start or died, told from its lines: the class, and the first lines that say why.

Sources: vLLM 0.32 on CPU run for each row, public reports on vLLM and on its plugin for Ascend.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from autotune.errors import LaunchCause

MOST_LINES: Final = 5
_VALIDATION_LINES: Final = 3
"""pydantic names the class first, then the field, then what is wrong."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_Signs = tuple[tuple[LaunchCause, re.Pattern[str]], ...]
_TIERS: Final[tuple[_Signs, ...]] = (
    (
        (LaunchCause.PORT, _any(r"Address already in use", r"error while attempting to bind on address")),
        (
            LaunchCause.GRAPH,
            _any(r"\bEL0009\b", r"Insufficient_Stream_Resources", r"\b207008\b", r"graph captur\w* fail"),
        ),
        (
            LaunchCause.MEMORY,
            _any(
                r"\b(?:NPU|CUDA|HIP|XPU) out of memory",
                r"\bOutOfMemoryError\b",
                r"\bEL0004\b",
                r"Memory_Allocation_Failure",
                r"To serve at least one request with the model's max seq len",
                r"larger than the maximum number of tokens that can be stored in KV cache",
                r"No available memory for the cache blocks",
                r"Available KV cache memory: -",
                r"not enough memory: you tried to allocate",
                r"Cannot allocate memory",
                r"Free memory on device .* is less than desired",
            ),
        ),
        (
            LaunchCause.CONFIG,
            _any(
                r"\berror: (?:unrecognized arguments|argument |the following arguments are required)",
                r"\bmust be greater than or equal to max_num_seqs",
                r"\bis smaller than max_model_len",
                r"validation errors? for \w*Config",
                r"Input should be (?:greater|less|a valid)",
                r"User-specified max_model_len .* is greater than the derived",
            ),
        ),
        (LaunchCause.PERMISSION, _any(r"Permission denied", r"PermissionError")),
        (
            LaunchCause.MODEL,
            _any(
                r"LocalEntryNotFoundError",
                r"RepositoryNotFoundError",
                r"HFValidationError",
                r"is not a local folder and is not a valid model identifier",
                r"does not appear to have (?:a file|files) named",
                r"Invalid repository ID or local directory",
                r"Cannot find any model weights",
                r"Model architectures .* are not supported",
                r"safetensors_rust\.SafetensorError",
            ),
        ),
    ),
    (
        (
            LaunchCause.CRASHED,
            _any(
                r"EngineDeadError",
                r"Executor failed",
                r"Segmentation fault",
                r"died unexpectedly",
                r"core dumped",
                r"Engine core initialization failed",
                r"Fatal Python error",
            ),
        ),
    ),
)
"""What says more comes first: a dead engine is nearly always a consequence."""
_ERROR_LINE: Final = re.compile(
    r"\b(?:ERROR|CRITICAL|FATAL)\b|^(?:\([^)]*\) )?[\w.]*(?:Error|Exception)\b|\berror:"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why it ended."""

    cause: LaunchCause
    lines: tuple[str, ...]
    """The line that tells the class, and error lines after it; at most MOST_LINES."""


def first_failure(lines: Sequence[str]) -> Failure | None:
    """The first failure of the most telling kind; None when the lines tell of none."""
    for signs in _TIERS:
        for number, line in enumerate(lines):
            cause = next((cause for cause, pattern in signs if pattern.search(line)), None)
            if cause is not None:
                return Failure(cause=cause, lines=_telling(lines[number:]))
    return None


def error_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The first lines that look like errors."""
    errors = dict.fromkeys(line.strip() for line in lines if _ERROR_LINE.search(line))
    return tuple(errors)[:MOST_LINES]


def _telling(lines: Sequence[str]) -> tuple[str, ...]:
    said = _VALIDATION_LINES if "validation error" in lines[0] else 1
    after = (line for line in lines[said:] if _ERROR_LINE.search(line))
    return tuple(dict.fromkeys(line.strip() for line in (*lines[:said], *after)))[:MOST_LINES]
