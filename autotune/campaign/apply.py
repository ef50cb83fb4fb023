"""Apply: put a proven winner into the service's configuration or script; roll the last one back."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from autotune.campaign.guards import guarded, recovering, this_run
from autotune.campaign.proven import conditions, settings_now
from autotune.campaign.winner_text import winner_text
from autotune.engines.mindie.config_file import replace, restore
from autotune.engines.vllm.winner import flags_to_set
from autotune.errors import Refused
from autotune.host.host_settings import check_restored
from autotune.host.host_settings import restore as restore_settings
from autotune.host.setting import summary
from autotune.model.campaign import Campaign
from autotune.model.change import Change, FileChanged, HostChange, SysfsWritten, UnitStopped
from autotune.model.move import VerdictCode
from autotune.model.protocols import Journal
from autotune.model.settings import Settings
from autotune.process.identity import boot_id
from autotune.report.commands import state_option
from autotune.report.knob_names import settings_text
from autotune.store.journal import FileJournal
from autotune.store.state import StateDirectory, make_private

_PROVEN = (VerdictCode.IMPROVED, VerdictCode.EQUAL_SMALLER)


def apply(campaign: Campaign, state: StateDirectory, *, root: Path = Path("/")) -> tuple[str, ...]:
    """Write the winner's values into config.json or run_vllm.sh; only the named values differ.

    Gives one line for each thing. Raises Refused when the run proved nothing or there is no file to write,
    NotRestored when somebody changed the values since, which stay; Busy while a campaign runs on the service.
    """
    with guarded(state, campaign):
        return put_in_place(campaign, state, now=settings_now(root))


def put_in_place(
    campaign: Campaign,
    state: StateDirectory,
    *,
    now: Mapping[str, str] | None = None,
    also: Journal | None = None,
) -> tuple[str, ...]:
    """The same for a caller that holds the service's lock.

    `now` are the host settings of this moment; None at the end of the campaign itself. `also` is told of
    the change before it is made.
    """
    winner = _winner(campaign)
    by_hand = told_by_hand(campaign)
    if by_hand:
        raise Refused(by_hand[0], hint="; ".join(by_hand[1:]))
    path = Path(campaign.description.config_path)
    wanted = winner_text(campaign, winner, path)
    values = settings_text(winner, campaign.description.kind)
    if not wanted.changes:
        return (f"{path}: {values} (there already)", *conditions(campaign, now))
    backups = state.root / "applied"
    make_private(backups, uid=os.geteuid())
    ledger = _applied(state)
    replace(path, wanted.text, ledger if also is None else Both(ledger, also), backups)
    return (
        f"{path}: {values}",
        f"the service reads it at its next start; autotune rollback{state_option(campaign)} undoes it",
        *wanted.notes,
        *conditions(campaign, now),
    )


def told_by_hand(campaign: Campaign) -> tuple[str, ...]:
    """What a person has to change where the service is a bare command line; empty where there is a file."""
    if campaign.description.config_path or campaign.rehearsed:
        return ()
    flags = " ".join(flags_to_set(_winner(campaign)))
    return (
        f"{campaign.description.place}: its command line is not in a file that could be edited",
        f"start it with {flags}",
    )


def kept(changes: Sequence[HostChange], state: StateDirectory) -> None:
    """Remember host settings that stay with the winner, so that rollback puts them back with it."""
    ledger = _applied(state)
    for change in changes:
        ledger.record(change)


def rollback(state: StateDirectory) -> tuple[str, ...]:
    """Put the configuration back as it was before the last winner, and the host settings kept with it.

    Raises Refused when none is applied, NotRestored when somebody else edited the file since; Busy while a
    campaign runs on the service.
    """
    last = _last(_applied(state).changes)
    if not last:
        return take_back(state)
    with recovering(state, last):
        return take_back(state)


def take_back(state: StateDirectory) -> tuple[str, ...]:
    """The same for a caller that holds the service's lock."""
    ledger = _applied(state)
    last = _last(ledger.changes)
    if not last:
        raise Refused("no applied winner is known here", hint="autotune history lists the runs")
    lines: list[str] = []
    for change in reversed(last):
        if isinstance(change, SysfsWritten | UnitStopped):
            results = restore_settings([change], ledger, boot_id=boot_id())
            check_restored(results)
            lines.append("; ".join(summary(results)))
        elif isinstance(change, FileChanged):
            restore(change, journal=ledger)
            lines.append(f"{change.path}: back to what it was before; the service reads it at its next start")
    return tuple(reversed(lines))


class Both:
    """Two journals that are told the same."""

    def __init__(self, first: Journal, second: Journal) -> None:
        self._journals = (first, second)

    def record(self, change: Change) -> None:
        """Into both, before the change is made."""
        for journal in self._journals:
            journal.record(change)

    def settle(self, change: Change) -> None:
        """Out of both."""
        for journal in self._journals:
            journal.settle(change)


def _last(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The newest winner's file with what was kept beside it."""
    for place in range(len(changes) - 1, -1, -1):
        if isinstance(changes[place], FileChanged):
            return changes[place:]
    return ()


def _winner(campaign: Campaign) -> Settings:
    verdict = campaign.verdict
    if verdict is None or verdict.best is None or verdict.code not in _PROVEN:
        code = verdict.code.value if verdict else "unfinished"
        raise Refused(
            f"run {campaign.run} proved no better value ({code})", hint=f"autotune report {campaign.run}"
        )
    if campaign.rehearsed:
        raise Refused(
            f"run {campaign.run} was a rehearsal: nothing was proven on a service",
            hint="autotune tune PROFILE",
        )
    return verdict.best.settings


def _applied(state: StateDirectory) -> FileJournal:
    """The winners that are applied, oldest first, in the form of the crash journal and a file of its own."""
    return FileJournal(state.root / "applied.json", this_run("applied"))
