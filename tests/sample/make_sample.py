"""Makes reports/sample again: a run of the emulated daemon, its report, and pictures of terminal and page.

`make sample` calls it with the options of `autotune emulate`. With `--stored FILE` nothing runs: report and
pictures are made from a stored campaign, so that a change of the page needs no quiet machine. Paths are shown
relative to the checkout; nothing else of the run is changed. Without Chromium the pictures stay as they are.
"""

import io
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from fcntl import ioctl
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autotune.cli.ending_view import show_ending
from autotune.cli.live_screen import LiveScreen
from autotune.cli.plan_view import show_plan
from autotune.model.campaign import Campaign
from autotune.report.answer import answer
from autotune.report.files import write_report
from autotune.report.texts.languages import language
from autotune.store.codec import decode, encode
from autotune.store.study import CampaignStore
from tests.integration.report.chromium import Chromium, find_chromium
from tests.unit.cli.recorded_events import PLAN, RecordedClock, events_of, play
from tests.unit.cli.terminal_screen import Screen

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "reports" / "sample"
DEMO = ROOT / ".demo"
COLUMNS = 130
TUNE = ("tune", "profiles/mindie-demo.yaml", "--yes", "--output", ".demo/report")
PATH_OF_ALL = "/usr/local/bin:/usr/bin:/bin"


def main(options):
    """Run or read a campaign, report, and draw."""
    if options[:1] == ["--stored"]:
        campaign = relative(Path(options[1]).read_text(encoding="utf-8"))
        screen = replayed(campaign)
    else:
        screen, campaign = run(options)
    files = write_report(campaign, SAMPLE)
    program = find_chromium()
    if program is None:
        print("no chromium on this machine: the pictures stay as they are", file=sys.stderr)
        return
    DEMO.mkdir(exist_ok=True)
    with Chromium(program) as browser:
        draw_terminal(browser, screen, SAMPLE / "terminal.png")
        draw_page(browser, files.html, SAMPLE / "report.png")


def run(emulated):
    """Tune a fresh emulated install in a terminal; the screen and the stored campaign."""
    shutil.rmtree(DEMO, ignore_errors=True)
    autotune = str(Path(sys.executable).with_name("autotune"))
    subprocess.run([autotune, "emulate", "--install", ".demo/install", *emulated], cwd=ROOT, check=True)
    screen = in_terminal([autotune, *TUNE])
    with CampaignStore(f"sqlite:///{DEMO / 'state' / 'campaigns.db'}") as store:
        campaign = store.load(store.runs()[-1].run)
    return screen, relative(json.dumps(encode(campaign, Campaign)))


def replayed(campaign):
    """The screen that a stored run showed at its end."""
    screen, clock = Screen(COLUMNS), RecordedClock()
    console = Console(file=screen, width=COLUMNS, force_terminal=True, color_system="standard")
    show_plan(console, replace(campaign, launches=()), PLAN, campaign.forecast)
    listener = LiveScreen(console, now=clock)
    play(listener, clock, events_of(campaign))
    show_ending(console, answer(campaign, language("en")), "reports/sample/report.html")
    return screen


def relative(text):
    """The campaign of a stored document, with paths relative to the checkout."""
    for root in (f"{ROOT}/", "/opt/autotune/"):
        text = text.replace(root, "")
    return decode(json.loads(text), Campaign)


def in_terminal(command):
    """Run a command in a terminal of its own; the screen as it is at the end."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "PATH": PATH_OF_ALL}
    environment.pop("NO_COLOR", None)
    running = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while chunk := _read(ours):
        said += chunk
        sys.stdout.buffer.write(chunk)
        sys.stdout.flush()
    assert running.wait() == 0
    screen = Screen(COLUMNS)
    screen.write(said.decode().replace("\r\n", "\n").replace(f"{ROOT}/", ""))
    return screen


def _read(place):
    try:
        return os.read(place, 1 << 16)
    except OSError:  # the terminal's other end is closed: the command ended
        return b""


def draw_terminal(browser, screen, place):
    """The screen as a picture."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in screen.ansi():
        console.print(Text.from_ansi(line), no_wrap=True, crop=False)
    page = DEMO / "terminal.html"
    drawn = console.export_svg(title="autotune tune profiles/mindie-demo.yaml")
    page.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><body style='margin:0'>{drawn}</body>", encoding="utf-8"
    )
    browser.open(page, width=1600)
    browser.screenshot(
        place, height=browser.evaluate("document.querySelector('svg').getBoundingClientRect().bottom")
    )


def draw_page(browser, html, place):
    """The head of the report as a picture."""
    browser.open(html, width=1280)
    height = browser.evaluate(
        "document.querySelector('#curve').getBoundingClientRect().bottom + scrollY + 16"
    )
    browser.screenshot(place, height=height)


if __name__ == "__main__":
    main(sys.argv[1:])
