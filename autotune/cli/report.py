"""`autotune report`: write the report of a stored run again."""

from pathlib import Path

import click


@click.command("report")
@click.argument("run", required=False)
@click.option("--language", type=click.Choice(["en", "zh"]), default="en", show_default=True)
@click.option("--output", type=click.Path(path_type=Path), help="Directory; the default is reports/RUN.")
@click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)
def command(run: str | None, language: str, output: Path | None, state: Path | None) -> None:
    """Write the report of RUN again, from its study; the newest run when none is named."""
    from autotune.cli.state import open_store
    from autotune.errors import UsageError
    from autotune.report.answer import answer
    from autotune.report.files import write_report
    from autotune.report.texts.languages import language as language_of

    with open_store(state) as store:
        names = [stored.run for stored in store.runs()]
        if not names:
            raise UsageError("no runs are stored here", hint="autotune tune PROFILE")
        campaign = store.load(run or names[-1])
    files = write_report(campaign, output or Path("reports") / campaign.run, language=language)
    click.echo(answer(campaign, language_of(language)).sentence)
    click.echo(f"report: {files.html}")
