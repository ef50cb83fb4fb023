"""Guards around a campaign on a real host: one at a time, and nothing left over from an earlier one."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autotune.errors import Busy, Refused
from autotune.model.campaign import Campaign
from autotune.process.identity import boot_id, identity_of, started_wall
from autotune.store.journal import Unfinished, unfinished
from autotune.store.lock import hold, this_process
from autotune.store.state import StateDirectory

_LOCKS = Path("/run/lock")


@contextmanager
def guarded(state: StateDirectory, campaign: Campaign) -> Iterator[None]:
    """Hold the service's lock. Raises Busy when another run has it, Refused after a crash."""
    with hold(lock_path(campaign, state), this_process(f"autotune {campaign.run}")):
        check_nothing_left(state)
        yield


def check_nothing_left(state: StateDirectory) -> None:
    """Raise Refused when an earlier run ended without putting everything back, Busy while it goes on."""
    left = unfinished(state.journal)
    if left is not None:
        refuse_alive(left)
        raise Refused(
            f"run {left.run} ended without putting everything back ({len(left.changes)} changes are open)",
            hint=f"autotune recover --state {state.root}",
        )


def refuse_alive(left: Unfinished) -> None:
    """Raise Busy while the run is still going on: its pid belongs to a process that began before it."""
    found = identity_of(left.pid)
    if left.boot_id == boot_id() and found is not None and started_wall(found) <= left.started_wall:
        raise Busy(
            f"run {left.run} is still going on (process {left.pid})",
            hint="wait until it ends, or stop it with Ctrl-C or SIGTERM: it puts everything back",
        )


def lock_path(campaign: Campaign, state: StateDirectory) -> Path:
    """One lock a service, wherever a run keeps its state, so that two runs on one install meet."""
    return lock_path_of(campaign.description.config_path or campaign.description.place, state)


def lock_path_of(service: str, state: StateDirectory) -> Path:
    """The lock of the service with this configuration, script or command."""
    place = os.path.realpath(service)
    name = hashlib.sha256(place.encode()).hexdigest()[:16]
    if os.access(_LOCKS, os.W_OK):
        return _LOCKS / f"ascend-autotune-{name}.lock"
    return state.root / f"lock-{name}"
