"""`autotune tune`: plan, ask once, run, and the answer first at the end."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autotune.cli.asking import ask
from autotune.cli.profile_options import overriding, profile_argument

if TYPE_CHECKING:
    from rich.console import Console

    from autotune.campaign.choices import Choices
    from autotune.campaign.ending import Ending
    from autotune.campaign.session import Session
    from autotune.cli.listeners import CampaignListener

_RESUME_NEWEST = "(newest)"


@click.command("tune")
@profile_argument()
@click.option("--plan", "plan_only", is_flag=True, help="Show the plan and stop.")
@click.option("--rehearse", is_flag=True, help="Run the whole campaign in virtual time; touches nothing.")
@click.option("--yes", is_flag=True, help="Begin without asking.")
@click.option(
    "--strategy",
    type=click.Choice(["scout", "guide", "grid", "multi"]),
    help="How to search, instead of as the profile says.",
)
@click.option(
    "--max-launches", type=click.IntRange(min=1), help="Most starts of the service, first one included."
)
@click.option("--deadline", help="End by then with the best so far, like 2h.")
@click.option("--limit", "limits", multiple=True, help='Hard limit, like "tpot:mean<=50ms"; may be repeated.')
@click.option(
    "--resume",
    is_flag=False,
    flag_value=_RESUME_NEWEST,
    metavar="[RUN]",
    help="Go on with a run; the newest unfinished one when none is named.",
)
@click.option(
    "--apply/--no-apply",
    "apply_winner",
    default=False,
    show_default=True,
    help="Write a proven winner into the service's configuration.",
)
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Directory of the report.")
@overriding("search.step=50")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def command(
    *,
    profile: Path,
    plan_only: bool,
    rehearse: bool,
    yes: bool,
    strategy: str | None,
    max_launches: int | None,
    deadline: str | None,
    limits: tuple[str, ...],
    resume: str | None,
    apply_winner: bool,
    output: Path | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> int:
    """Find the batch size with the highest sustained throughput, prove it, and write a report."""
    load_numpy_on_one_thread()
    from autotune.campaign.choices import Choices
    from autotune.campaign.planning import planned
    from autotune.campaign.session import report_directory
    from autotune.profile.reading import read_profile
    from autotune.report.files import check_writable

    choices = Choices(
        deadline_seconds=seconds_option(deadline),
        rehearse=rehearse,
        resume=resume is not None,
        resume_run=None if resume == _RESUME_NEWEST else resume,
        output=output,
        apply=apply_winner,
    )
    loaded = read_profile(
        profile, [*overrides, *_limit_overrides(limits), *_search_overrides(strategy, max_launches)]
    )
    listener = _listener(as_json=as_json)
    with planned(loaded, choices, listener) as session:
        _show_plan(session, as_json=as_json and plan_only)
        if plan_only:
            return 0
        check_writable(report_directory(loaded.profile, choices, session.campaign.run))
        if not (yes or session.campaign.rehearsed):
            ask()
        try:
            ending = session.run(listener)
        finally:
            listener.close()
        return _tell(session, ending, choices, as_json=as_json)


def load_numpy_on_one_thread() -> None:
    """The search works on tiny matrices, which BLAS threads make slower; the service must not see this."""
    before = os.environ.copy()
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    import_module("numpy")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        if name in before:
            os.environ[name] = before[name]
        else:
            del os.environ[name]


def seconds_option(text: str | None) -> float | None:
    """The seconds of --deadline. Raises UsageError."""
    from autotune.errors import UsageError
    from autotune.profile.quantities import seconds_of

    if text is None:
        return None
    try:
        return seconds_of(text)
    except ValueError as error:
        raise UsageError(f"--deadline: {error}", hint="--deadline 2h") from error


def _limit_overrides(limits: tuple[str, ...]) -> list[str]:
    return [f"objective.limits={json.dumps(list(limits))}"] if limits else []


def _search_overrides(strategy: str | None, max_launches: int | None) -> list[str]:
    """What the command line chose, as part of the profile that is stored with the run."""
    chosen = {"strategy": strategy, "max_launches": max_launches}
    return [f"search.{name}={value}" for name, value in chosen.items() if value is not None]


def _listener(*, as_json: bool) -> "CampaignListener":
    from autotune.cli.listeners import PlainLines, Steady

    console = _stderr()
    if as_json or not console.is_terminal or console.is_dumb_terminal:
        return Steady(PlainLines(sys.stderr))
    from autotune.cli.live_screen import LiveScreen

    return Steady(LiveScreen(console))


def _stderr() -> "Console":
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def _show_plan(session: "Session", *, as_json: bool) -> None:
    from autotune.cli.plan_view import plan_document, show_plan

    lines, forecast = session.plan.lines, session.plan.forecast
    if as_json:
        document = plan_document(session.campaign, lines, forecast)
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    show_plan(_stderr(), session.campaign, lines, forecast)


def _tell(session: "Session", ending: "Ending", choices: "Choices", *, as_json: bool) -> int:
    from rich.console import Console

    from autotune.campaign.session import report_directory
    from autotune.cli.ending_view import show_ending
    from autotune.errors import Refused
    from autotune.report.answer import answer
    from autotune.report.document import document_text, report_document
    from autotune.report.files import write_report
    from autotune.report.texts.languages import language

    words = language(session.profile.report.language)
    directory = report_directory(session.profile, choices, session.campaign.run)
    unwritten: Refused | None = None
    try:
        written = str(write_report(ending.campaign, directory, language=words.code).html)
    except Refused as error:  # what was measured is told and stored all the same
        unwritten, written = error, "not written"
    if as_json:
        click.echo(document_text(report_document(ending.campaign, words)), nl=False)
    else:
        show_ending(Console(highlight=False), answer(ending.campaign, words), written)
    if unwritten is not None:
        raise unwritten
    return ending.exit_code
