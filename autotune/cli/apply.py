"""`autotune apply`: put the winner of a run in place."""

from pathlib import Path

import click


@click.command("apply")
@click.argument("run")
@click.option(
    "--state", type=click.Path(path_type=Path), help="State directory; the default is the tool's own."
)
def command(run: str, state: Path | None) -> None:
    """Write the proven values of RUN into the service's config.json or script; nothing is restarted."""
    from dataclasses import replace

    from autotune.campaign.apply import apply, told_by_hand
    from autotune.cli.state import open_store, state_of

    with open_store(state) as store:
        campaign = store.load(run)
        by_hand = told_by_hand(campaign)
        if by_hand:
            click.echo("\n".join(by_hand))
            return
        for line in apply(campaign, state_of(state)):
            click.echo(line)
        store.mark(replace(campaign, applied=True))
