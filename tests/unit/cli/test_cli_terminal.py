"""Captures of the terminal: what a person sees of a full, an interrupted and a failed run."""

import io
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from autotune.cli.ending_view import show_ending
from autotune.cli.listeners import PlainLines
from autotune.cli.live_screen import LiveScreen
from autotune.cli.plan_view import show_plan
from autotune.events import CampaignStarted, LaunchEnded, LevelProgress, Warned
from autotune.model.service import Fact
from autotune.report.answer import answer
from autotune.report.texts.languages import language

from ..report import example_campaigns as examples  # noqa: TID252 - no second copy
from ..report.stored_campaigns import stored  # noqa: TID252 - no second copy
from .recorded_events import PLAN, RecordedClock, events_of, interrupted_in, play
from .terminal_screen import Screen, wide

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "terminal"
WIDTHS = (60, 80, 160)
RUNS = {
    "full": lambda: events_of(stored("emulated_mindie")),
    "interrupted": lambda: interrupted_in(stored("emulated_mindie"), 3),
    "failed": lambda: events_of(stored("failures")),
}


def console_on(screen, **more):
    options = {"force_terminal": True, "color_system": "standard", "legacy_windows": False}
    return Console(file=screen, width=screen.width, highlight=False, **{**options, **more})


def is_reading(event):
    return isinstance(event, LevelProgress) and event.half_width is not None


def capture(name, width):
    """The plan, the screen while the third reading is on its way, and the screen at the end."""
    screen, clock = Screen(width), RecordedClock()
    console = console_on(screen)
    events = list(RUNS[name]())
    last = events[-1][1].campaign
    show_plan(console, events[0][1].campaign, PLAN, last.forecast)
    listener, rest = LiveScreen(console, now=clock), iter(events)
    for _ in range(3):
        play(listener, clock, rest, until=is_reading)
    middle = screen.text()
    play(listener, clock, rest)
    listener.close()
    show_ending(console, answer(last, language("en")), "reports/run/report.html")
    assert screen.widest() <= width
    return f"while the third reading is on its way:\n{middle}\nat the end:\n{screen.text()}"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", RUNS)
def test_the_terminal_shows_what_the_capture_shows(name, width):
    place, seen = GOLDEN / f"{name}_{width}.txt", capture(name, width)
    if os.environ.get("AUTOTUNE_WRITE_GOLDEN"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(seen, encoding="utf-8")
    assert seen == place.read_text(encoding="utf-8")


def told(listener, clock, campaign, *more):
    play(listener, clock, events_of(campaign))
    for event in more:
        listener(event)
    listener.close()


def test_where_there_is_no_terminal_every_launch_is_one_line():
    stream, clock = io.StringIO(), RecordedClock()
    told(PlainLines(stream, now=clock), clock, stored("emulated_mindie"))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1 + 9
    assert " ".join(lines[0].split()) == "# purpose batch prefill token/s ± 95 % vs found TTFT TPOT time why"
    assert lines[3].split()[:6] == ["3", "candidate", "30", "15", "754.0", "±"]
    assert lines[3].endswith("the next step up")
    assert "\x1b" not in stream.getvalue()


def test_a_run_that_is_cut_off_leaves_a_line_for_its_launch():
    stream, clock = io.StringIO(), RecordedClock()
    listener = PlainLines(stream, now=clock)
    play(listener, clock, events_of(stored("emulated_mindie")), until=is_reading)
    listener.close()
    assert "not finished: the run was cut off" in stream.getvalue().splitlines()[-1]


def test_the_cursor_is_shown_again_after_a_run_that_was_cut_off():
    stream, clock = io.StringIO(), RecordedClock()
    console = Console(file=stream, width=80, force_terminal=True)
    listener = LiveScreen(console, now=clock)
    play(listener, clock, events_of(stored("emulated_mindie")), until=is_reading)
    listener.close()
    assert stream.getvalue().rfind("\x1b[?25h") > stream.getvalue().rfind("\x1b[?25l") > 0


@pytest.mark.parametrize("campaign", [examples.hostile(), stored("failures")], ids=["hostile", "failures"])
@pytest.mark.parametrize("width", [30, 45, 60, 100])
def test_nothing_is_wider_than_the_terminal_and_no_foreign_control_reaches_it(campaign, width):
    screen, clock = Screen(width), RecordedClock()
    console = console_on(screen)
    show_plan(console, campaign, (Fact(name="model", value=examples.HOSTILE),), examples.guide().forecast)
    warned = Warned(message=examples.HOSTILE, hint="\x1b]0;title\x07 tidy up")
    told(LiveScreen(console, now=clock), clock, campaign, warned)
    show_ending(console, answer(campaign, language("en")), "report.html")
    text = screen.text()
    assert not {"\u202e", "\x07", "\x1b"} & set(text)
    rows = [line for line in text.splitlines() if "autotune " not in line and "report.html" not in line]
    assert max(sum(map(wide, line)) for line in rows) <= width


def test_plain_lines_carry_no_foreign_control_either():
    stream, clock = io.StringIO(), RecordedClock()
    told(PlainLines(stream, now=clock), clock, examples.hostile(), Warned(message=examples.HOSTILE))
    assert not {"\u202e", "\x07", "\x1b", "\x00"} & set(stream.getvalue())
    assert max(map(len, stream.getvalue().splitlines())) < 1000, "a log line of 1 MB is cut"


def test_east_asian_names_keep_the_columns_straight():
    campaign = stored("emulated_mindie")
    reasons = tuple(replace(decision, reason="吞吐下降，继续向上") for decision in campaign.decisions)
    screen, clock = Screen(160), RecordedClock()
    console = console_on(screen)
    show_plan(console, campaign, (Fact(name="模型", value="通义千问-七十二亿" * 12),), campaign.forecast)
    told(LiveScreen(console, now=clock), clock, replace(campaign, decisions=reasons))
    plan = [line for line in screen.text().splitlines() if "千问" in line]
    assert len(plan) == 2, "the long name is broken under its own beginning"
    assert plan[1].startswith(" " * 11)
    assert screen.widest() <= 160


def test_no_color_is_obeyed(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    stream, clock = io.StringIO(), RecordedClock()
    console = Console(file=stream, width=100, force_terminal=True)
    told(LiveScreen(console, now=clock), clock, stored("failures"))
    show_ending(console, answer(stored("failures"), language("en")), "report.html")
    colours = re.findall(r"\x1b\[([\d;]*)m", stream.getvalue())
    assert {number for colour in colours for number in colour.split(";")} <= {"", "0", "1", "2"}


def test_with_colour_failures_are_red():
    stream, clock = io.StringIO(), RecordedClock()
    console = Console(file=stream, width=100, force_terminal=True, color_system="standard", no_color=False)
    told(LiveScreen(console, now=clock), clock, stored("failures"))
    assert re.search(r"\x1b\[31m[^\x1b]*failed", stream.getvalue())


def test_what_ran_before_a_resume_is_on_the_screen_again():
    campaign = stored("emulated_mindie")
    screen, clock = Screen(100), RecordedClock()
    listener = LiveScreen(console_on(screen), now=clock)
    begun = replace(campaign, launches=campaign.launches[:2])
    listener(CampaignStarted(campaign=begun, forecast=campaign.forecast))
    listener(LaunchEnded(record=campaign.launches[2]))
    listener.close()
    batches = [line[16:22].strip() for line in screen.text().splitlines()[1:]]
    assert batches == ["batch", "22", "27", "30"]
    assert "+67.0 %" in screen.text()
