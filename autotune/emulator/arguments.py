"""The daemon's command line: two options, each with a value, and nothing else."""

from collections.abc import Sequence
from typing import Final

from autotune.errors import UsageError
from autotune.mindie_rules import log_printing

OPTIONS: Final = ("--config-file", "--expert-parallel")
WRONG_EXIT: Final = 255
_MOST: Final = 256


def parse(argv: Sequence[str]) -> dict[str, str]:
    """Options and values. Raises UsageError with the daemon's own message."""
    if len(argv) >= _MOST:
        raise UsageError("The number of command-line arguments exceeds the limit.")
    result: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        if word not in OPTIONS:
            raise UsageError(log_printing.unrecognized_argument())
        value = next(words, None)
        if value is None:
            raise UsageError(f"Missing value for key: {word}")
        result[word] = value
    return result
