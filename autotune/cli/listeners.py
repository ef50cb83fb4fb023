"""Who listens to a campaign: the live screen on a terminal, plain lines elsewhere; both on stderr."""

import time
from contextlib import suppress
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from autotune.cli.rows import COLUMNS, WIDTHS, launch_cells, live_cells, plain
from autotune.events import (
    CampaignEnded,
    CampaignStarted,
    Event,
    LaunchEnded,
    LaunchStarted,
    LevelEnded,
    LevelProgress,
    Phase,
    PhaseChanged,
    Warned,
)
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Invalid, Measurement


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

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._incumbent: Measurement | None = None

    def __call__(self, event: Event) -> None:
        """Write what deserves a line."""
        match event:
            case CampaignStarted():
                self._line(plain(COLUMNS))
            case LaunchEnded():
                self._incumbent = self._incumbent or _incumbent_level(event.record)
                self._line(plain(launch_cells(event.record, self._incumbent)))
            case LevelEnded(level=Invalid() as level):
                self._line(f"     level at {level.concurrency} clients: {level.reason.value} {level.detail}")
            case Warned():
                self._line(f"warning: {event.message}" + (f" ({event.hint})" if event.hint else ""))
            case LaunchStarted() | PhaseChanged() | LevelProgress() | LevelEnded() | CampaignEnded():
                pass

    def close(self) -> None:
        """Nothing to put back."""

    def _line(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


class LiveScreen:
    """Rows that stay, and one below them that lives."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._started: LaunchStarted | None = None
        self._phase = Phase.STARTING
        self._progress: LevelProgress | None = None
        self._began = 0.0
        self._incumbent: Measurement | None = None

    def __call__(self, event: Event) -> None:
        """Draw what changed."""
        match event:
            case CampaignStarted():
                self._console.print(_table(COLUMNS, style="bold"))
                self._live.start()
            case LaunchStarted():
                self._started, self._progress = event, None
                self._began = time.monotonic()
                self._draw()
            case PhaseChanged():
                self._phase = event.phase
                self._draw()
            case LevelProgress():
                self._progress = event
                self._draw()
            case LaunchEnded():
                self._row_stays(event.record)
            case LevelEnded():
                self._progress = None
            case Warned():
                hint = f" ({event.hint})" if event.hint else ""
                self._console.print(Text(f"warning: {event.message}{hint}", style="yellow"))
            case CampaignEnded():
                self.close()

    def close(self) -> None:
        """End the live row."""
        self._started = None
        self._live.update(Text(""))
        self._live.stop()

    def _row_stays(self, record: LaunchRecord) -> None:
        self._started = None
        self._live.update(Text(""), refresh=True)
        self._incumbent = self._incumbent or _incumbent_level(record)
        style = "red" if record.outcome is Outcome.FAILED else ""
        self._console.print(_table(launch_cells(record, self._incumbent), style=style))

    def _draw(self) -> None:
        if self._started is None:
            return
        cells = live_cells(
            self._started.number,
            self._started.purpose.value,
            self._started.settings,
            self._phase,
            self._progress,
            time.monotonic() - self._began,
        )
        self._live.update(_table(cells, style="cyan"), refresh=True)


def _incumbent_level(record: LaunchRecord) -> Measurement | None:
    return record.last if record.purpose is Purpose.INCUMBENT else None


def _table(cells: tuple[str, ...], *, style: str) -> Table:
    table = Table.grid(padding=(0, 1), expand=False)
    for width in WIDTHS:
        table.add_column(min_width=width, no_wrap=True, overflow="ellipsis")
    table.add_row(*(Text(cell, style=style) for cell in cells))
    return table
