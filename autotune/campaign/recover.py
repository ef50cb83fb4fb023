"""Recover: put back what a run that was killed has left changed, newest change first."""

from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.guards import recovering, refuse_alive
from autotune.campaign.production import bring_back, bring_back_later, settle
from autotune.engines.mindie.config_file import forget, restore
from autotune.engines.mindie.leftovers import remove_left
from autotune.errors import NotRestored
from autotune.host.host_settings import check_restored
from autotune.host.host_settings import restore as restore_settings
from autotune.host.setting import summary
from autotune.model.change import (
    Change,
    FileChanged,
    HostChange,
    ProcessStarted,
    ServiceStopped,
    SysfsWritten,
    UnitStopped,
)
from autotune.process.clock import SystemClock
from autotune.process.ending import end
from autotune.process.held_back import held_back
from autotune.process.identity import Identity, alive, boot_id
from autotune.process.tree import Tree, names
from autotune.store.journal import FileJournal, unfinished
from autotune.store.state import StateDirectory

_GRACE_SECONDS = 30.0
NOTHING = "nothing to recover"


@dataclass(frozen=True, kw_only=True, slots=True)
class RecoverOptions:
    """How to recover where there is a choice."""

    accept_edits: bool = False
    """A file that somebody else edited since stays as it is, and counts as put back."""
    at_boot: bool = False
    """Called while the host boots: a systemd unit is only queued, since it is ordered after this."""


def recover(state: StateDirectory, options: RecoverOptions | None = None) -> tuple[str, ...]:
    """Undo every open change of the journal; one line for each. Done already is fine.

    It may be killed at any moment and called again. Raises Busy while the run is still alive or another
    one holds its locks, NotRestored when something stays changed; all that can be put back is put back
    first.
    """
    left = unfinished(state.journal)
    if left is None:
        return (NOTHING,)
    refuse_alive(left)
    with recovering(state, left.changes), held_back():
        return _recovered(state, options or RecoverOptions())


def _recovered(state: StateDirectory, options: RecoverOptions) -> tuple[str, ...]:
    left = unfinished(state.journal)  # again: another recover may just have done it
    if left is None:
        return (NOTHING,)
    journal = FileJournal(state.journal, left)
    results = [_tried(change, journal, state, options) for change in reversed(left.changes)]
    lines = tuple(result for result in results if isinstance(result, str))
    failures = [result for result in results if isinstance(result, NotRestored)]
    if failures:
        more = "".join(f"\n  {failure.message}" for failure in failures[1:])
        done = "".join(f"\n  {line}" for line in lines)
        raise NotRestored(f"{failures[0].message}{more}{done}", hint=failures[0].hint)
    return lines


def _tried(
    change: Change, journal: FileJournal, state: StateDirectory, options: RecoverOptions
) -> str | NotRestored:
    try:
        return _undo(change, journal, state, options)
    except NotRestored as failure:
        return failure
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return NotRestored(
            f"the crash journal {state.journal} cannot be written: {where}{error.strerror or error}",
            hint=f"free some space, then: autotune recover --state {state.root}",
        )


def _undo(change: Change, journal: FileJournal, state: StateDirectory, options: RecoverOptions) -> str:
    match change:
        case ProcessStarted():
            return _end_process(change, journal)
        case FileChanged():
            return _put_back_file(change, journal, options)
        case SysfsWritten() | UnitStopped():
            return _put_back_setting(change, journal)
        case ServiceStopped():
            return _bring_back_service(change, journal, state, options)


def _end_process(change: ProcessStarted, journal: FileJournal) -> str:
    identity = Identity(pid=change.pid, create_time=change.create_time)
    if change.boot_id != boot_id():
        journal.settle(change)
        return f"{change.command}: gone with the reboot"
    was_alive = alive(identity)
    ended = end(Tree(identity), grace=_GRACE_SECONDS, clock=SystemClock())
    if ended.left:
        raise NotRestored(
            f"processes of the trial service cannot be ended: {names(ended.left)}",
            hint="look at the NPU driver (npu-smi info) before the next start",
        )
    left = remove_left(Path(change.shared_memory), change.segments_before) if change.shared_memory else ()
    journal.settle(change)
    also = f", {len(left)} segments of shared memory removed" if left else ""
    return f"{change.command} (process {change.pid}): {'ended' if was_alive else 'had ended'}{also}"


def _put_back_file(change: FileChanged, journal: FileJournal, options: RecoverOptions) -> str:
    try:
        restore(change, journal=journal)
    except NotRestored:
        if not options.accept_edits:
            raise
        journal.settle(change)
        forget(change)
        return f"{change.path}: left as it is now, as you said"
    return f"{change.path}: put back"


def _put_back_setting(change: HostChange, journal: FileJournal) -> str:
    results = restore_settings([change], journal, boot_id=boot_id())
    check_restored(results)
    return "; ".join(summary(results))


def _bring_back_service(
    change: ServiceStopped, journal: FileJournal, state: StateDirectory, options: RecoverOptions
) -> str:
    if options.at_boot and change.unit:
        bring_back_later(change, state.root / "recover")
        settle(change, journal)
        return f"{change.unit}: its start is queued"
    bring_back(change, state.root / "recover")
    settle(change, journal)
    return f"{change.config_path}: the service answers again"
