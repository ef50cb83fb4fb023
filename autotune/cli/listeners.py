"""Listeners: plain lines for logs and pipes, and what every listener of a campaign says."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TextIO

from autotune.cli.layouts import Piece, Row, layout_for, pieces, plain, title_row
from autotune.cli.rows import launch_row, unfinished_row
from autotune.events import (
    CampaignEnded,
    CampaignStarted,
    Event,
    ForecastChanged,
    LaunchEnded,
    LaunchStarted,
    LevelEnded,
    LevelProgress,
    PhaseChanged,
    Warned,
)
from autotune.model.campaign import Campaign
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Invalid
from autotune.report.safe_text import one_line
from autotune.report.texts.english import ENGLISH

INDENT = "     "
"""Of what stands under the rows."""


class CampaignListener(Protocol):
    """A listener that can be closed."""

    def __call__(self, event: Event) -> None:
        """Take one event."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Steady:
    """Hands events on, and goes on without the screen once that is gone: a campaign must not end of it."""

    def __init__(self, listener: CampaignListener) -> None:
        self._listener = listener
        self._lost = False

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if self._lost:
            return
        try:
            self._listener(event)
        except (OSError, ValueError):  # the terminal or the pipe behind it was closed
            self._lost = True

    def close(self) -> None:
        """Leave the terminal as it was, where it is still there."""
        with suppress(OSError, ValueError):
            self._listener.close()


class PlainLines:
    """One line a launch, for logs and pipes."""

    def __init__(self, stream: TextIO, *, now: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._now = now
        self._layout = layout_for(None)
        self._incumbent: LaunchRecord | None = None
        self._started: LaunchStarted | None = None
        self._began = 0.0

    def __call__(self, event: Event) -> None:
        """Write what deserves a line."""
        match event:
            case CampaignStarted():
                self._incumbent = incumbent_of(event.campaign.launches)
                self._line(title_row(self._layout))
            case LaunchStarted():
                self._started, self._began = event, self._now()
            case LaunchEnded():
                reason = self._started.reason if self._started else ""
                self._started = None
                self._incumbent = self._incumbent or incumbent_of((event.record,))
                row = launch_row(event.record, self._incumbent, reason)
                line = plain(pieces(row, self._layout))
                self._line(((f"{line}: {row.detail}" if row.detail else line, ""),))
            case LevelEnded(level=Invalid() as level):
                self._line((invalid_piece(level),))
            case Warned():
                self._line((warning_piece(event),))
            case CampaignEnded():
                self._leave(why_ended(event.campaign))
            case PhaseChanged() | LevelProgress() | LevelEnded() | ForecastChanged():
                pass

    def close(self) -> None:
        """A launch that was cut off leaves its line."""
        self._leave("the run was cut off")

    def _leave(self, why: str) -> None:
        started, self._started = self._started, None
        if started is not None:
            spent = self._now() - self._began
            self._line(pieces(unfinished(started, why, spent), self._layout))

    def _line(self, styled: tuple[Piece, ...]) -> None:
        self._stream.write(plain(styled) + "\n")
        self._stream.flush()


def warning_piece(event: Warned) -> Piece:
    """A warning with its hint on one line."""
    hint = f" ({event.hint})" if event.hint else ""
    return one_line(f"warning: {event.message}{hint}"), "yellow"


def invalid_piece(level: Invalid) -> Piece:
    """Why a level gives no number."""
    detail = f" ({level.detail})" if level.detail else ""
    words = ENGLISH.invalid[level.reason]
    return INDENT + one_line(
        f"level at {level.concurrency} clients does not count: {words}{detail}"
    ), "yellow"


def unfinished(started: LaunchStarted, why: str, spent: float) -> Row:
    """The row of a launch that was ended before its time."""
    return unfinished_row(started.number, started.purpose, started.settings, why=why, spent=spent)


def why_ended(campaign: Campaign) -> str:
    """Why a launch that still ran was not finished."""
    return campaign.verdict.reason if campaign.verdict else "the run was cut off"


def incumbent_of(records: tuple[LaunchRecord, ...]) -> LaunchRecord | None:
    """The launch that others are compared with: the first of the setting found that gave a reading."""
    found = (record for record in records if record.purpose is Purpose.INCUMBENT)
    return next((record for record in found if record.outcome is Outcome.ENDED and record.last), None)
