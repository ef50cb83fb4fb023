"""Recover: put back what a run that was killed has left changed, newest change first."""

from autotune.campaign.guards import refuse_alive
from autotune.campaign.production import bring_back
from autotune.engines.mindie.config_file import restore
from autotune.errors import NotRestored
from autotune.host.host_settings import check_restored
from autotune.host.host_settings import restore as restore_settings
from autotune.host.setting import summary
from autotune.model.change import Change, FileChanged, ProcessStarted, ServiceStopped, SysfsWritten
from autotune.process.clock import SystemClock
from autotune.process.ending import end
from autotune.process.identity import Identity, alive, boot_id
from autotune.process.tree import Tree, names
from autotune.store.journal import FileJournal, unfinished
from autotune.store.state import StateDirectory

_GRACE_SECONDS = 30.0


def recover(state: StateDirectory) -> tuple[str, ...]:
    """Undo every open change of the journal; one line for each. Done already is fine.

    Raises Busy while the run is still alive, NotRestored when something stays changed; all that can be
    put back is put back first.
    """
    left = unfinished(state.journal)
    if left is None:
        return ("nothing to recover",)
    refuse_alive(left)
    journal = FileJournal(state.journal, left)
    results = [_tried(change, journal, state) for change in reversed(left.changes)]
    lines = tuple(result for result in results if isinstance(result, str))
    failures = [result for result in results if isinstance(result, NotRestored)]
    if failures:
        done = "".join(f"\n  {line}" for line in lines)
        raise NotRestored(f"{failures[0].message}{done}", hint=failures[0].hint)
    return lines


def _tried(change: Change, journal: FileJournal, state: StateDirectory) -> str | NotRestored:
    try:
        return _undo(change, journal, state)
    except NotRestored as failure:
        return failure


def _undo(change: Change, journal: FileJournal, state: StateDirectory) -> str:
    match change:
        case ProcessStarted():
            return _end_process(change, journal)
        case FileChanged():
            restore(change, journal=journal)
            return f"{change.path}: put back"
        case SysfsWritten():
            return _put_back_setting(change, journal)
        case ServiceStopped():
            bring_back(change, state.root / "recover")
            journal.settle(change)
            return f"{change.config_path}: the service answers again"


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
    journal.settle(change)
    return f"{change.command} (process {change.pid}): {'ended' if was_alive else 'had ended'}"


def _put_back_setting(change: SysfsWritten, journal: FileJournal) -> str:
    results = restore_settings([change], journal, boot_id=boot_id())
    check_restored(results)
    return "; ".join(summary(results))
