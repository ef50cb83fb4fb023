"""Guards around a campaign on a real host: one at a time, and nothing left over from an earlier one."""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from autotune.errors import Busy, Refused
from autotune.model.campaign import Campaign
from autotune.model.change import Change, FileChanged, ServiceStopped
from autotune.process.identity import Identity, boot_id, identity_of, started_wall, stat_of
from autotune.store.journal import Unfinished, unfinished
from autotune.store.lock import hold, refuse_held, this_process
from autotune.store.state import StateDirectory

_LOCKS = Path("/run/lock")
_SUSPENDED = {"T", "t"}


@contextmanager
def guarded(state: StateDirectory, campaign: Campaign) -> Iterator[None]:
    """Hold the locks of the state directory, whose crash journal is for one run, and of the service.

    Raises Busy when another run has one of them, Refused after a crash.
    """
    holder = this_process(f"autotune {campaign.run}")
    with hold(state.lock, holder), hold(lock_path(campaign, state), holder):
        check_nothing_left(state)
        yield


@contextmanager
def recovering(state: StateDirectory, changes: Iterable[Change]) -> Iterator[None]:
    """Hold the locks that the crashed run held. Raises Busy while another run has one of them."""
    holder = this_process("autotune recover")
    paths = {lock_path_of(place, state) for place in map(_place_of, changes) if place}
    with ExitStack() as stack:
        for path in (state.lock, *sorted(paths)):
            stack.enter_context(hold(path, holder))
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
    """Raise Busy while the process that wrote the journal is there."""
    found = _writer(left)
    if found is None:
        return
    stat = stat_of(found)
    suspended = stat is not None and stat.state in _SUSPENDED
    waiting = "wait until it ends, or stop it with Ctrl-C or SIGTERM: it puts everything back"
    raise Busy(
        f"run {left.run} is still going on (process {left.pid}{', suspended' if suspended else ''})",
        hint=f"kill -CONT {left.pid}, then {waiting}" if suspended else waiting,
    )


def writer_lives(left: Unfinished) -> bool:
    """Whether the run that wrote the journal still goes on."""
    return _writer(left) is not None


def refuse_held_service(place: str, state: StateDirectory) -> None:
    """Raise Busy when a run holds the lock of the service at this configuration or command."""
    refuse_held(lock_path_of(place, state))


def this_run(run: str) -> Unfinished:
    """The head of a crash journal that the calling process will write."""
    pid = os.getpid()
    found = identity_of(pid)
    return Unfinished(
        run=run,
        pid=pid,
        boot_id=boot_id(),
        started_wall=time.time(),
        create_time=found.create_time if found else None,
    )


def lock_path(campaign: Campaign, state: StateDirectory) -> Path:
    """One lock a service, wherever a run keeps its state, so that two runs on one install meet."""
    return lock_path_of(campaign.description.config_path or campaign.description.place, state)


def lock_path_of(place: str, state: StateDirectory) -> Path:
    """The lock of the service with this configuration file, script or command."""
    real = os.path.realpath(place) if Path(place).is_absolute() else place
    name = hashlib.sha256(real.encode()).hexdigest()[:16]
    if os.access(_LOCKS, os.W_OK):
        return _LOCKS / f"ascend-autotune-{name}.lock"
    return state.root / f"lock-{name}"


def _place_of(change: Change) -> str:
    match change:
        case FileChanged():
            return change.path
        case ServiceStopped():
            return change.config_path
        case _:
            return ""


def _writer(left: Unfinished) -> Identity | None:
    """The process that wrote the journal, when it still runs."""
    if left.boot_id != boot_id():
        return None
    found = identity_of(left.pid)
    if found is None:
        return None
    if left.create_time is not None:
        stat = stat_of(Identity(pid=left.pid, create_time=left.create_time))
        return found if stat is not None and stat.living else None
    return found if started_wall(found) <= left.started_wall else None
