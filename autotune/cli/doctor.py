"""`autotune doctor`: everything that a campaign needs, each ok, advice or error; touches nothing."""

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.profile_options import overriding, profile_argument

if TYPE_CHECKING:
    from autotune.campaign.doctor.check import Check
    from autotune.campaign.doctor.examination import Examination

SCHEMA_VERSION = 1
_MARKS = {"ok": ("✓", "green"), "advice": ("!", "yellow"), "error": ("✗", "red")}
_GAP = 2
_LEAST_ROOM = 30


@click.command("doctor")
@profile_argument()
@overriding()
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(*, profile: Path, overrides: tuple[str, ...], as_json: bool) -> int:
    """Check everything that a campaign with PROFILE needs; each error comes with the command that mends it.

    Touches nothing. Exit code 1 when a check is an error.
    """
    from autotune.campaign.doctor.check import Level
    from autotune.campaign.doctor.examination import examine

    found = examine(profile, overrides)
    if as_json:
        click.echo(json.dumps(_document(found), indent=2, ensure_ascii=False))
    else:
        _print(found)
    return 1 if any(check.level is Level.ERROR for check in found.checks) else 0


_LONGEST_MEND = 600
_TOO_LONG = "a command too long to be shown; --json has it whole"


def _document(found: "Examination") -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "profile": found.profile,
        "engine": found.engine,
        "emulated": found.emulated,
        "errors": _count(found, "error"),
        "advice": _count(found, "advice"),
        "checks": [
            {"name": check.name, "level": check.level.value, "fact": check.fact, "mend": check.mend}
            for check in found.checks
        ],
    }


def _count(found: "Examination", level: str) -> int:
    return sum(check.level.value == level for check in found.checks)


def _print(found: "Examination") -> None:
    width = max(len(check.name) for check in found.checks) + _GAP
    for check in found.checks:
        for line in _lines(check, width):
            click.echo(line)
    errors, hints = _count(found, "error"), _count(found, "advice")
    emulated = "  (EMULATED)" if found.emulated else ""
    counted = f"{_plural(errors, 'error')}, {hints} advice, {_count(found, 'ok')} ok"
    click.echo()
    click.secho(f"{found.profile}: {counted}{emulated}", bold=True, fg="red" if errors else "green")


def _lines(check: "Check", width: int) -> list[str]:
    mark, colour = _MARKS[check.level.value]
    level = check.level.value.ljust(6)
    blank = " " * (len(mark) + 1 + len(level) + _GAP + width)
    head, *more = _folded(check.fact, len(blank))
    lines = [f"{click.style(f'{mark} {level}', fg=colour)}  {check.name.ljust(width)}{head}"]
    lines += [f"{blank}{line}" for line in more]
    if check.mend:  # in one piece, so that it can be copied
        mend = check.mend if len(check.mend) <= _LONGEST_MEND else _TOO_LONG
        lines.append(f"{blank}{click.style('mend', bold=True)}  {mend}")
    return lines


def _folded(text: str, indent: int) -> list[str]:
    """Break a long fact under its own beginning on a terminal; elsewhere a line stays a line."""
    if not sys.stdout.isatty():
        return [text]
    room = max(_LEAST_ROOM, shutil.get_terminal_size().columns - indent - 1)
    return textwrap.wrap(text, room, break_on_hyphens=False) or [text]


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
