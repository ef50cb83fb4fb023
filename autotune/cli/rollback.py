"""`autotune rollback`: put back what was there before the last winner was applied."""

from pathlib import Path

import click


@click.command("rollback")
@click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)
def command(state: Path | None) -> None:
    """Put the service's config.json back as it was before the last `autotune apply`."""
    from autotune.campaign.apply import rollback
    from autotune.cli.state import state_of

    for line in rollback(state_of(state)):
        click.echo(line)
