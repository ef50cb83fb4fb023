"""`autotune nightly`: prove in a few launches that the setting holds, and tell the team."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.profile_options import overriding, profile_argument

if TYPE_CHECKING:
    from autotune.campaign.nightly.outcome import NightOutcome
    from autotune.cli.listeners import PlainLines


@click.command("nightly")
@profile_argument()
@click.option("--deadline", help="End by then, like 2h; the window's end counts too.")
@click.option("--at-any-time", is_flag=True, help="Do not look at nightly.window.")
@overriding("nightly.apply=true")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, as the webhook gets it.")
def command(
    *, profile: Path, deadline: str | None, at_any_time: bool, overrides: tuple[str, ...], as_json: bool
) -> int:
    """Measure the served setting again, look beside it, and change it only on proof.

    Says one line; exit code 0: holds, drifted, slower, or improved and applied; 3: a better value was found
    and not applied; 5: nothing could be measured; 75: window closed, lock held or live traffic; 4: a person
    must look.
    """
    from autotune.campaign.nightly.night import NightOptions, run_night
    from autotune.cli.journald import JournalLines, is_journal
    from autotune.cli.listeners import PlainLines
    from autotune.cli.tune import load_numpy_on_one_thread, seconds_option
    from autotune.profile.reading import read_profile

    load_numpy_on_one_thread()
    options = NightOptions(deadline_seconds=seconds_option(deadline), at_any_time=at_any_time)
    loaded = read_profile(profile, list(overrides))
    journal = is_journal(sys.stderr, os.environ)
    listener = JournalLines(sys.stderr) if journal else PlainLines(sys.stderr)
    outcome = run_night(loaded, options, listener)
    _tell(outcome, listener, as_json=as_json)
    return outcome.exit_code


def _tell(outcome: "NightOutcome", listener: "PlainLines", *, as_json: bool) -> None:
    from autotune.campaign.nightly.webhook import document
    from autotune.cli.journald import ERROR, INFO, NOTICE, WARNING, JournalLines

    if isinstance(listener, JournalLines):
        worst = ERROR if not outcome.restored else WARNING if outcome.verdict.needs_a_look else NOTICE
        listener.say(outcome.line, worst)
        for line in outcome.evidence:
            listener.say(line, INFO)
    else:
        for line in outcome.evidence:
            click.echo(f"  {line}", err=True)
    click.echo(json.dumps(document(outcome), indent=2, ensure_ascii=False) if as_json else outcome.line)
