"""Where this host's campaigns are kept: the state directory and the store in it, opened for a command."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from autotune.campaign.guards import writer_lives
from autotune.store.journal import unfinished
from autotune.store.state import StateDirectory, locate
from autotune.store.study import CampaignStore


def state_of(given: Path | None) -> StateDirectory:
    """The given state directory, or this user's own."""
    return locate(given, environment=os.environ, uid=os.geteuid())


def tell_unfinished(state: StateDirectory) -> None:
    """Say on stderr that a run ended without putting everything back; whatever was asked goes on."""
    left = unfinished(state.journal)
    if left is not None and not writer_lives(left):
        what = f"run {left.run} ended without putting everything back ({len(left.changes)} changes are open)"
        click.echo(f"note: {what}: autotune recover --state {state.root}", err=True)


@contextmanager
def open_store(given: Path | None, url: str | None = None) -> Iterator[CampaignStore]:
    """The store of a state directory, or the database at `url`."""
    state = state_of(given)
    state.make(uid=os.geteuid())
    tell_unfinished(state)
    with CampaignStore(url or state.database_url) as store:
        yield store
