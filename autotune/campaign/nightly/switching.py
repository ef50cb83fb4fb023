"""Switching: put the night's winner in place so that a failure, even a kill, brings the old setting back."""

from collections.abc import Callable
from dataclasses import replace

from autotune.campaign.apply import put_in_place, take_back
from autotune.campaign.nightly.canary import check_served
from autotune.campaign.nightly.serving import Switch
from autotune.campaign.session import Session
from autotune.events import Warned
from autotune.model.campaign import Campaign
from autotune.model.change import Change
from autotune.model.protocols import Journal, Listener
from autotune.store.storage import StorageFailed


class _Noting:
    """The crash journal, which also remembers what was recorded through it."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.changes: list[Change] = []

    def record(self, change: Change) -> None:
        self._journal.record(change)
        self.changes.append(change)

    def settle(self, change: Change) -> None:
        self._journal.settle(change)
        self.changes = [entry for entry in self.changes if entry != change]

    def settle_all(self) -> None:
        for change in list(self.changes):
            self.settle(change)


def switched(session: Session, campaign: Campaign, listener: Listener) -> Switch | None:
    """Write the winner; until the canary has seen it serve, `recover` would put the old text back.

    None without a crash journal, as in a rehearsal. Raises Refused, or NotRestored where somebody else
    edited the configuration.
    """
    side = session.side
    if side.journal is None:
        return None
    journal = _Noting(side.journal)
    for line in put_in_place(campaign, session.state, also=journal):
        listener(Warned(message=line))

    def keep() -> None:
        journal.settle_all()
        session.store.mark(replace(campaign, applied=True))

    def undo() -> None:
        take_back(session.state)
        kept = not journal.changes
        journal.settle_all()
        if kept:
            _mark(session, campaign, listener)

    best = campaign.verdict.best if campaign.verdict else None
    return Switch(
        check=_canary(session, campaign, listener),
        keep=keep,
        take_back=undo,
        settings=best.settings if best else None,
    )


def _mark(session: Session, campaign: Campaign, listener: Listener) -> None:
    """The run is not applied after all; the file says so, whatever becomes of the note about it."""
    try:
        session.store.mark(campaign)
    except StorageFailed as error:
        listener(Warned(message=f"the run is still noted as applied: {error.message}"))


def _canary(session: Session, campaign: Campaign, listener: Listener) -> Callable[[], None]:
    production = session.side.production
    best = campaign.verdict.best if campaign.verdict else None

    def check() -> None:
        if production is not None and best is not None:
            check_served(
                session.side,
                production,
                listener,
                concurrency=session.space.concurrency,
                proven=best,
            )

    return check
