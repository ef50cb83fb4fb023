"""`autotune report`: write the report of a stored run again."""

from pathlib import Path

import click


@click.command("report")
@click.argument("run", required=False)
@click.option("--language", type=click.Choice(["en", "zh"]), help="The default is the profile's own.")
@click.option("--redact", is_flag=True, help="Hide hosts, addresses, paths and users everywhere.")
@click.option(
    "--ceiling",
    type=click.FloatRange(min=0, min_open=True),
    metavar="TOKENS_PER_SECOND",
    help="What the bare model reads in a static test (run_pa, modeltest), to compare with.",
)
@click.option("--output", type=click.Path(path_type=Path), help="Directory; the default is reports/RUN.")
@click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)
@click.option("--json", "as_json", is_flag=True, help="The report as one JSON document on stdout, no files.")
def command(
    *,
    run: str | None,
    language: str | None,
    redact: bool,
    ceiling: float | None,
    output: Path | None,
    state: Path | None,
    as_json: bool,
) -> None:
    """Write the report of RUN again, from its study; the newest run when none is named."""
    from autotune.cli.state import open_store
    from autotune.errors import UsageError
    from autotune.report.answer import answer
    from autotune.report.document import document_text, report_document
    from autotune.report.files import write_report
    from autotune.report.limits import profile_language
    from autotune.report.redact import redacted
    from autotune.report.texts.languages import language as language_of

    with open_store(state) as store:
        names = [stored.run for stored in store.runs()]
        if not names:
            raise UsageError("no runs are stored here", hint="autotune tune PROFILE")
        campaign = store.load(run or names[-1])
    words = language_of(language or profile_language(campaign))
    if as_json:
        shown = redacted(campaign) if redact else campaign
        click.echo(document_text(report_document(shown, words)), nl=False)
        return
    directory = output or Path("reports") / campaign.run
    files = write_report(campaign, directory, language=words.code, ceiling=ceiling, redact=redact)
    click.echo(answer(campaign, words).sentence)
    click.echo(f"report: {files.html}")
