"""`autotune recover`: put back what a crashed run has left changed."""

from pathlib import Path

import click


@click.command("recover")
@click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)
def command(state: Path | None) -> None:
    """Put back what a crashed run has left changed: its service, its config.json, its host settings."""
    from autotune.campaign.recover import recover
    from autotune.cli.state import state_of

    for line in recover(state_of(state)):
        click.echo(line)
