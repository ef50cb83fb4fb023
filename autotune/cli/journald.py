"""Priorities for journald: lines get `<N>` in front when the journal reads them."""

import os
from collections.abc import Mapping
from typing import TextIO

from autotune.cli.layouts import Piece
from autotune.cli.listeners import PlainLines
from autotune.events import Event, LaunchEnded, LevelEnded, Warned
from autotune.model.launch import Outcome
from autotune.model.measurement import Invalid

ERROR, WARNING, NOTICE, INFO = 3, 4, 5, 6


class JournalLines(PlainLines):
    """Plain lines whose level says how bad they are (sd-daemon(3))."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._level = INFO

    def __call__(self, event: Event) -> None:
        """Write what deserves a line, at its level."""
        self._level = _level(event)
        super().__call__(event)

    def say(self, text: str, level: int) -> None:
        """One line of the command itself."""
        self._level = level
        self._line(((text, ""),))

    def _line(self, styled: tuple[Piece, ...]) -> None:
        super()._line(((f"<{self._level}>", ""), *styled))


def is_journal(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether systemd connected this very stream to the journal (JOURNAL_STREAM names it)."""
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return False
    return environment.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}"


def _level(event: Event) -> int:
    if isinstance(event, Warned):
        return WARNING
    if isinstance(event, LaunchEnded) and event.record.outcome is Outcome.FAILED:
        return WARNING
    if isinstance(event, LevelEnded) and isinstance(event.level, Invalid):
        return WARNING
    return INFO
