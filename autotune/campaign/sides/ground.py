"""Ground: what a campaign on a real host stands on, whichever engine it starts."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.guards import this_run
from autotune.campaign.host.preparation import HostPreparation, prepare_host
from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.sides.service_environment import environment_of
from autotune.model.protocols import Listener
from autotune.process.clock import SystemClock
from autotune.profile.schema import Profile
from autotune.store.journal import FileJournal
from autotune.store.state import StateDirectory, make_private


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """The host, the journal and the run's own directory."""

    environment: Mapping[str, str]
    """Of the service."""
    host: HostPreparation
    clock: InterruptibleClock
    directory: Path
    """Of the run, this user's alone."""
    journal: FileJournal
    listener: Listener


def ground_of(profile: Profile, state: StateDirectory, run: str, listener: Listener) -> Ground:
    """Look at the host and make the run's directory; nothing else is touched.

    Raises Refused or UsageError for what can't be used.
    """
    clock = InterruptibleClock(SystemClock())
    environment = environment_of(profile)
    host = prepare_host(profile.host, environment, clock)
    directory = state.run(run)
    make_private(directory, uid=os.geteuid())
    return Ground(
        environment=environment,
        host=host,
        clock=clock,
        directory=directory,
        journal=FileJournal(state.journal, this_run(run)),
        listener=listener,
    )
