"""Host settings: apply the wishes, and put back exactly what was there, also after a crash.

Each old value is on disk in the journal before its file is written. No item that fails keeps the
others from being tried. The restore is per item and leaves alone what somebody else changed since.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from autotune.errors import NotRestored, Refused
from autotune.host import governor, huge_pages
from autotune.host.cpu_group import group_path, members
from autotune.host.setting import SettingOutcome, SettingResult, summary
from autotune.host.short_command import Ask, ask
from autotune.host.sysfs_value import read_value, write_value
from autotune.host.unit_setting import plan_unit, start_unit, stop_unit
from autotune.model.change import HostChange, SysfsWritten, UnitStopped
from autotune.model.protocols import Journal


@dataclass(frozen=True, kw_only=True, slots=True)
class HostWish:
    """What the host should be set to; None leaves a setting alone."""

    governor: str | None = "performance"
    transparent_hugepages: str | None = "always"
    always_with_large_pages: bool = False
    stop_services: tuple[str, ...] = ()
    """systemd services that work against the trials."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AppliedSettings:
    """What was done, with the changes that have to be undone."""

    results: tuple[SettingResult, ...]
    changes: tuple[HostChange, ...]


def plan(wish: HostWish, root: Path = Path("/"), *, run: Ask = ask) -> tuple[SettingResult, ...]:
    """What applying would do, item by item; touches nothing. APPLIED means: would be changed."""
    return (*(plan_unit(unit, run) for unit in wish.stop_services), *_plan_values(wish, root))


def _plan_values(wish: HostWish, root: Path) -> tuple[SettingResult, ...]:
    items: list[SettingResult] = []
    if wish.transparent_hugepages is not None:
        consent = wish.always_with_large_pages
        items.append(huge_pages.plan_huge_pages(wish.transparent_hugepages, root, large_consent=consent))
    if wish.governor is not None:
        items.extend(governor.plan_governor(wish.governor, root))
    return tuple(items)


def apply(
    wish: HostWish, journal: Journal, *, boot_id: str, root: Path = Path("/"), run: Ask = ask
) -> AppliedSettings:
    """Do what is wanted; never raises for an item that can't be had.

    Services are stopped first, since tuned puts its own values back when it ends. Then all values are read
    before the first is written, because CPUs of one policy share theirs.
    Raises Refused when the journal can't be written; nothing stays changed then.
    """
    changes: list[HostChange] = []
    intended: tuple[SysfsWritten, ...] = ()
    try:
        stopped = _stop_services(wish.stop_services, journal, changes, boot_id=boot_id, run=run)
        items = _plan_values(wish, root)
        intended = _intended(items, boot_id)
        for change in intended:
            journal.record(change)
    except OSError as error:
        restore((*changes, *intended), journal, boot_id=boot_id, run=run)
        raise Refused(
            f"the crash journal cannot be written: {error.strerror or error}",
            hint="free some space in the state directory; no host setting was changed",
        ) from error
    results = tuple(_write(item) if item.outcome is SettingOutcome.APPLIED else item for item in items)
    moved = {result.path for result in results if result.after != result.before}
    for change in intended:
        if moved.intersection(str(path) for _, path in members(change.path)):
            changes.append(change)
        else:
            journal.settle(change)
    return AppliedSettings(results=(*stopped, *results), changes=tuple(changes))


def _stop_services(
    units: Iterable[str], journal: Journal, changes: list[HostChange], *, boot_id: str, run: Ask
) -> list[SettingResult]:
    """Stop each unit that runs; what was stopped goes to `changes` as it comes."""
    results: list[SettingResult] = []
    for unit in units:
        item = plan_unit(unit, run)
        if item.outcome is SettingOutcome.APPLIED:
            change = UnitStopped(unit=unit, boot_id=boot_id)
            journal.record(change)
            item = stop_unit(unit, item, run)
            if item.outcome is SettingOutcome.APPLIED:
                changes.append(change)
            else:
                journal.settle(change)
        results.append(item)
    return results


def restore(
    changes: Iterable[HostChange], journal: Journal, *, boot_id: str, run: Ask = ask
) -> tuple[SettingResult, ...]:
    """Put back what `apply` changed, last change first; safe to repeat.

    An item is SKIPPED when somebody else changed it since, DROPPED after a reboot. What is DENIED
    stays in the journal, so that a person or a later `recover` can finish it.
    """
    results: list[SettingResult] = []
    for change in reversed(tuple(changes)):
        if isinstance(change, UnitStopped):
            found = [start_unit(change, boot_id=boot_id, run=run)]
        else:
            found = [_put_back(change, cpu, path, boot_id) for cpu, path in members(change.path)]
        if all(result.outcome is not SettingOutcome.DENIED for result in found):
            journal.settle(change)
        results += found
    return tuple(results)


@final
class AppliedHost:
    """The settings as they are while trials run; `keep` leaves them so."""

    def __init__(self, done: AppliedSettings, journal: Journal) -> None:
        self._journal = journal
        self.results = done.results
        """What became of each wish."""
        self.changes = done.changes
        """What will be put back."""

    def keep(self) -> tuple[HostChange, ...]:
        """Leave the values as they are, on purpose; gives what will not be put back."""
        kept, self.changes = self.changes, ()
        for change in kept:
            self._journal.settle(change)
        return kept


@contextmanager
def applied(
    wish: HostWish, journal: Journal, *, boot_id: str, root: Path = Path("/"), run: Ask = ask
) -> Iterator[AppliedHost]:
    """Apply for the length of the block, then put back what was not kept.

    Raises NotRestored when something could not be put back.
    """
    host = AppliedHost(apply(wish, journal, boot_id=boot_id, root=root, run=run), journal)
    try:
        yield host
    finally:
        check_restored(restore(host.changes, journal, boot_id=boot_id, run=run))


def check_restored(results: Iterable[SettingResult]) -> None:
    """Raise NotRestored naming what could not be put back, and the command that does it."""
    failed = [result for result in results if result.outcome is SettingOutcome.DENIED]
    if failed:
        first = failed[0]
        command = f"echo {first.wanted} > {first.path}" if first.path else first.advice
        raise NotRestored(
            f"not put back: {'; '.join(summary(failed))}",
            hint=f"as root: {command}   ({len(failed)} such)",
        )


def _write(item: SettingResult) -> SettingResult:
    """Write one item and read it back: some drivers take a value without using it."""
    path = Path(item.path)
    failure = write_value(path, item.wanted)
    after = read_value(path)
    if failure is not None:
        return replace(item, after=after, outcome=failure.outcome, reason=failure.reason)
    if after != item.wanted:
        reason = f"written without an error, but it reads {after}"
        return replace(item, after=after, outcome=SettingOutcome.UNAVAILABLE, reason=reason)
    return replace(item, after=after)


def _intended(items: Iterable[SettingResult], boot_id: str) -> tuple[SysfsWritten, ...]:
    """The changes to come: one for all CPUs that have the same value now."""
    groups: dict[tuple[str, str], list[SettingResult]] = {}
    for item in items:
        if item.outcome is SettingOutcome.APPLIED and item.before is not None:
            groups.setdefault((item.name, item.before), []).append(item)
    return tuple(
        SysfsWritten(
            path=group_path(group[0].path, [item.cpu for item in group if item.cpu is not None]),
            before=before,
            after=group[0].wanted,
            boot_id=boot_id,
        )
        for (_, before), group in groups.items()
    )


def _put_back(change: SysfsWritten, cpu: int | None, path: Path, boot_id: str) -> SettingResult:
    current = read_value(path)
    result = SettingResult(
        name=governor.NAME if path.name == "scaling_governor" else huge_pages.NAME,
        cpu=cpu,
        path=str(path),
        before=current,
        wanted=change.before,
        after=current,
        outcome=SettingOutcome.UNCHANGED,
    )
    if change.boot_id != boot_id:
        reason = "the host was rebooted since"
        return replace(result, outcome=SettingOutcome.DROPPED, reason=reason)
    if current == change.before:
        return result
    if current is None:
        return replace(result, outcome=SettingOutcome.DENIED, reason="it can't be read any more")
    if current not in {change.after, ""}:  # empty: killed between opening and writing
        reason = f"somebody set it to {current} since; that stays"
        return replace(result, outcome=SettingOutcome.SKIPPED, reason=reason)
    written = _write(replace(result, outcome=SettingOutcome.RESTORED))
    restored = written.outcome is SettingOutcome.RESTORED
    return written if restored else replace(written, outcome=SettingOutcome.DENIED)
