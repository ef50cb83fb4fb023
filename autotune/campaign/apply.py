"""Apply: put a proven winner into the service's configuration; roll the last one back."""

import os
import time
from pathlib import Path

from autotune.campaign.guards import guarded
from autotune.engines.mindie.config_file import read as read_config
from autotune.engines.mindie.config_file import replace, restore
from autotune.engines.mindie.config_text import settings_of
from autotune.engines.mindie.trial import edited
from autotune.errors import Refused
from autotune.model.campaign import Campaign
from autotune.model.change import FileChanged
from autotune.model.move import VerdictCode
from autotune.model.settings import Settings
from autotune.process.identity import boot_id
from autotune.store.journal import FileJournal, Unfinished
from autotune.store.state import StateDirectory, make_private

_PROVEN = (VerdictCode.IMPROVED, VerdictCode.EQUAL_SMALLER)
_HOST_SETTINGS = ("governor", "transparent_hugepages")


def apply(campaign: Campaign, state: StateDirectory) -> tuple[str, ...]:
    """Write the winner's values into config.json; only the named values differ. One line for each thing.

    Raises Refused when the run proved nothing, or when the configuration is no longer the one it was
    proven against; Busy while a campaign runs on the service.
    """
    with guarded(state, campaign):
        return put_in_place(campaign, state)


def put_in_place(campaign: Campaign, state: StateDirectory) -> tuple[str, ...]:
    """The same for a caller that holds the service's lock."""
    winner = _winner(campaign)
    path = Path(campaign.description.config_path)
    found = read_config(path)
    if settings_of(found.config) != campaign.description.incumbent:
        raise Refused(
            f"{path} no longer holds the values that run {campaign.run} was proven against",
            hint="autotune tune PROFILE proves a value for the configuration as it is now",
        )
    text = edited(found.config, winner, version=campaign.description.version, chip="")
    backups = state.root / "applied"
    make_private(backups, uid=os.geteuid())
    replace(path, text, _applied(state), backups)
    values = ", ".join(f"{name} {value}" for name, value in winner.as_dict().items())
    return (
        f"{path}: {values}",
        "the service reads it at its next start; autotune rollback puts the old values back",
        *_conditions(campaign),
    )


def rollback(state: StateDirectory) -> tuple[str, ...]:
    """Put the configuration back as it was before the last winner was applied.

    Raises Refused when none is applied, NotRestored when somebody else edited the file since.
    """
    applied = _applied(state)
    files = [change for change in applied.changes if isinstance(change, FileChanged)]
    if not files:
        raise Refused("no applied winner is known here", hint="autotune history lists the runs")
    change = files[-1]
    restore(change, journal=applied)
    return (f"{change.path}: back to what it was before; the service reads it at its next start",)


def _winner(campaign: Campaign) -> Settings:
    verdict = campaign.verdict
    if verdict is None or verdict.best is None or verdict.code not in _PROVEN:
        code = verdict.code.value if verdict else "unfinished"
        raise Refused(
            f"run {campaign.run} proved no better value ({code})", hint=f"autotune report {campaign.run}"
        )
    if campaign.rehearsed or not campaign.description.config_path:
        raise Refused(
            f"run {campaign.run} was a rehearsal: nothing was proven on a service",
            hint="autotune tune PROFILE",
        )
    return verdict.best.settings


def _applied(state: StateDirectory) -> FileJournal:
    """The winners that are applied, oldest first, in the form of the crash journal and a file of its own."""
    header = Unfinished(run="applied", pid=os.getpid(), boot_id=boot_id(), started_wall=time.time())
    return FileJournal(state.root / "applied.json", header)


def _conditions(campaign: Campaign) -> tuple[str, ...]:
    proven = [f"{fact.name} {fact.value}" for fact in campaign.environment if fact.name in _HOST_SETTINGS]
    if not proven:
        return ()
    return (f"proven with {'; '.join(proven)}; these host settings were put back after the trials",)
