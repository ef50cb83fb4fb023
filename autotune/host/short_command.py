"""Short commands: ask a program of the host something, with a time limit that holds even when it hangs."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, unique
from typing import IO

_GRACE_SECONDS = 1.0
_MOST_BYTES = 4 * 1024 * 1024


@unique
class NoAnswer(Enum):
    """Why a command gave no answer at all."""

    MISSING = "is not installed"
    DENIED = "may not be run"
    TIMEOUT = "did not answer in time"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a command said."""

    output: str = ""
    errors: str = ""
    code: int | None = None
    """Exit code; None when it did not run to its end."""
    no_answer: NoAnswer | None = None

    @property
    def ok(self) -> bool:
        """Whether it ran and ended with 0."""
        return self.code == 0


Ask = Callable[[Sequence[str], float], Answer]
"""Runs a command for at most so many seconds."""


def ask(argv: Sequence[str], seconds: float, *, environment: Mapping[str, str] | None = None) -> Answer:
    """Run a command in the C locale without input; it is killed when the time is up.

    Its output goes to files: a program that hangs in a driver, or leaves children that keep a pipe
    open, can't hold the caller.
    """
    given = os.environ if environment is None else environment
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env={**given, "LC_ALL": "C", "LANG": "C", "LC_MESSAGES": "C"},
                start_new_session=True,
            )
        except (FileNotFoundError, NotADirectoryError):
            return Answer(no_answer=NoAnswer.MISSING)
        except OSError as error:
            return Answer(no_answer=NoAnswer.DENIED, errors=error.strerror or str(error))
        ended = _wait(process, seconds)
        texts = [_text(file) for file in (output, errors)]
    return Answer(
        output=texts[0],
        errors=texts[1],
        code=process.returncode if ended else None,
        no_answer=None if ended else NoAnswer.TIMEOUT,
    )


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Whether the process ended by itself in time; else it is killed, and left if even that fails."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own session: nobody else is in the group
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.returncode = -signal.SIGKILL  # it sleeps in a driver; there is nothing to wait for
        return False
    return True


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
