"""Where this host's campaigns are kept: the state directory and the store in it, opened for a command."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autotune.store.state import StateDirectory, locate
from autotune.store.study import CampaignStore


def state_of(given: Path | None) -> StateDirectory:
    """The given state directory, or this user's own."""
    return locate(given, environment=os.environ, uid=os.geteuid())


@contextmanager
def open_store(given: Path | None, url: str | None = None) -> Iterator[CampaignStore]:
    """The store of a state directory, or the database at `url`."""
    state = state_of(given)
    state.make(uid=os.geteuid())
    with CampaignStore(url or state.database_url) as store:
        yield store
