"""Live screen: rows that stay, and below them the one that lives; on stderr."""

import time
from collections.abc import Callable

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.text import Text

from autotune.cli.layouts import Piece, layout_for, pieces, title_row
from autotune.cli.listeners import INDENT, incumbent_of, invalid_piece, unfinished, warning_piece, why_ended
from autotune.cli.rows import duration, launch_row, live_row
from autotune.events import (
    CampaignEnded,
    CampaignStarted,
    Event,
    ForecastChanged,
    LaunchEnded,
    LaunchStarted,
    LevelEnded,
    LevelProgress,
    Phase,
    PhaseChanged,
    Warned,
)
from autotune.model.launch import LaunchRecord
from autotune.model.measurement import Invalid


class LiveScreen:
    """Rows that stay, and below them the one that lives with the time that is left."""

    def __init__(self, console: Console, *, now: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._now = now
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._campaign: CampaignStarted | None = None
        self._campaign_began = now()
        self._total: float | None = None
        self._started: LaunchStarted | None = None
        self._phase = Phase.STARTING
        self._progress: LevelProgress | None = None
        self._began = 0.0
        self._incumbent: LaunchRecord | None = None

    def __call__(self, event: Event) -> None:
        """Draw what changed."""
        match event:
            case CampaignStarted():
                self._begin(event)
            case LaunchStarted():
                self._started, self._progress = event, None
                self._began = self._now()
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
                self._level_ended(event)
            case ForecastChanged():
                self._total = self._now() - self._campaign_began + event.remaining.seconds
            case Warned():
                self._print(warning_piece(event))
            case CampaignEnded():
                self._leave(why_ended(event.campaign))

    def close(self) -> None:
        """End the live row; a launch that was cut off leaves one that stays."""
        self._leave("the run was cut off")

    def _begin(self, event: CampaignStarted) -> None:
        self._campaign, self._campaign_began = event, self._now()
        self._console.print()
        self._row(title_row(layout_for(self._console.width)))
        launches = event.campaign.launches
        self._incumbent = incumbent_of(launches)
        for record in launches:
            self._row(pieces(launch_row(record, self._incumbent), layout_for(self._console.width)))
        self._live.start()

    def _level_ended(self, event: LevelEnded) -> None:
        self._progress = None
        if isinstance(event.level, Invalid):
            self._print(invalid_piece(event.level))

    def _leave(self, why: str) -> None:
        started, self._started = self._started, None
        self._live.update(Text(""), refresh=True)
        self._live.stop()
        if started is not None:
            spent = self._now() - self._began
            self._row(pieces(unfinished(started, why, spent), layout_for(self._console.width)))

    def _row_stays(self, record: LaunchRecord) -> None:
        reason = self._started.reason if self._started else ""
        self._started = None
        self._live.update(Text(""), refresh=True)
        self._incumbent = self._incumbent or incumbent_of((record,))
        row = launch_row(record, self._incumbent, reason)
        self._row(pieces(row, layout_for(self._console.width)))
        if row.detail:
            self._print((row.detail, "red"))

    def _draw(self) -> None:
        if self._started is None:
            return
        now, about = self._now(), self._campaign.campaign.description if self._campaign else None
        row = live_row(
            self._started.number,
            self._started.purpose,
            self._started.settings,
            phase=self._phase,
            progress=self._progress,
            spent=now - self._began,
            time_scale=about.time_scale if about else 1.0,
        )
        styled = pieces(row, layout_for(self._console.width))
        below = Text(self._time_line(now), "dim", no_wrap=True, overflow="ellipsis")
        self._live.update(Group(_text(styled), below), refresh=True)

    def _time_line(self, now: float) -> str:
        """How long it takes, against the forecast; a rehearsal runs in virtual time and has none."""
        if self._campaign is None or self._campaign.campaign.rehearsed:
            return f"{INDENT}{self._phase.value}, in virtual time"
        spent = now - self._campaign_began
        total = self._campaign.forecast.seconds if self._total is None else self._total
        about = f"{duration(spent)} of about {duration(total)}"
        return f"{INDENT}{self._phase.value}, {about}; Ctrl-C ends and restores"

    def _row(self, styled: tuple[Piece, ...]) -> None:
        """One line, cut where the terminal is narrower than any layout."""
        self._console.print(_text(styled), no_wrap=True, overflow="ellipsis")

    def _print(self, piece: Piece) -> None:
        """A remark between the rows; long ones are wrapped."""
        self._console.print(Padding(Text(piece[0].strip(), piece[1]), (0, 0, 0, len(INDENT))))


def _text(styled: tuple[Piece, ...]) -> Text:
    text = Text.assemble(*styled, no_wrap=True, overflow="ellipsis")
    text.rstrip()
    return text
