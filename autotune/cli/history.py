"""`autotune history`: the stored runs by fingerprint with their trend, or the reports of many hosts."""

import json
import shutil
import sys
from pathlib import Path

import click


@click.command("history")
@click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)
@click.option(
    "--collect",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Read the report.json of many hosts below DIR instead, into one table, hosts.csv and hosts.png.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where hosts.csv and hosts.png go; the default is DIR.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def command(*, state: Path | None, collect: Path | None, output: Path | None, as_json: bool) -> None:
    """List the stored runs, those that may be compared together, with their trend."""
    if collect is not None:
        _collect(collect, output or collect, as_json=as_json)
        return
    from autotune.campaign.fingerprint import FACTS
    from autotune.cli.history_view import history_document, history_lines
    from autotune.cli.state import open_store
    from autotune.store.history import lineages

    with open_store(state) as store:
        found = lineages(store.runs(), facts=FACTS)
    if as_json:
        click.echo(json.dumps(history_document(found), indent=2, ensure_ascii=False))
        return
    lines = history_lines(found, width=_width(), ascii_only=not _speaks_unicode())
    click.echo("\n".join(lines) or "no runs yet; autotune tune PROFILE makes the first")


def _collect(directory: Path, output: Path, *, as_json: bool) -> None:
    from autotune.cli.collected_view import collected_lines
    from autotune.errors import UsageError
    from autotune.report.collected import REPORT, collect, collected_csv, collected_document
    from autotune.report.files import write_file
    from autotune.report.hosts_chart import hosts_picture

    found = collect(directory)
    if not found.hosts and not found.unread:
        raise UsageError(f"there is no {REPORT} below {directory}", hint="copy each host's report there")
    if as_json:
        click.echo(json.dumps(collected_document(found), indent=2, ensure_ascii=False))
        return
    click.echo("\n".join(collected_lines(found, width=_width())))
    if found.hosts:
        table = write_file(output / "hosts.csv", collected_csv(found).encode())
        picture = write_file(output / "hosts.png", hosts_picture(found))
        click.echo(f"table: {table}\npicture: {picture}")


def _width() -> int | None:
    """Cells of the terminal; None where the output goes to a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
