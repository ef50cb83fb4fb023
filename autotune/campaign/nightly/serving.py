"""Serving: production is stopped for the night and serves the last known good setting afterwards."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from autotune.campaign.production import ProductionService, has_stopped, settle
from autotune.engines.mindie.production import Production
from autotune.errors import LaunchFailed, NotRestored, Refused
from autotune.events import Warned
from autotune.model.protocols import Journal, Listener
from autotune.model.settings import Settings
from autotune.process.held_back import held_back
from autotune.store.storage import StorageFailed


@dataclass(kw_only=True)
class Switch:
    """A winner that was put in place tonight, until production is seen to serve it."""

    check: Callable[[], None]
    """The canary, while traffic is still away. Raises LaunchFailed."""
    keep: Callable[[], None]
    """It serves: the change is final."""
    take_back: Callable[[], None]
    """Put the old configuration back. Raises NotRestored."""
    settings: Settings | None = None
    """The winner's."""
    failure: str = ""
    """Why it had to be taken back; empty while it serves."""
    taken_back: bool = False
    """The old configuration is in place again."""


@dataclass(kw_only=True)
class Night:
    """What the end of the night has to do."""

    was_live: bool = False
    switch: Switch | None = None
    """The winner that is in place, if any."""

    def served(self, found: Settings) -> Settings | None:
        """What the service is left with, where `found` is what it had; None when nobody can tell.

        That is so when somebody edited the configuration while the winner was in it.
        """
        switch = self.switch
        if switch is None or switch.taken_back:
            return found
        return None if switch.failure else switch.settings


@contextmanager
def served_again(
    service: ProductionService | None, journal: Journal | None, listener: Listener
) -> Iterator[Night]:
    """Stop production for the block, if it runs, and bring it back at the end, whatever happened.

    With a switch in place it is started with the new setting and checked before traffic comes back; when
    that or the hook that brings traffic back fails, the old one is put back and served. Raises Refused when
    it may not be stopped, NotRestored when it does not answer at the end.
    """
    production = service.handle() if service is not None else None
    if service is None or journal is None or production is None or not production.is_live():
        night = Night()
        yield night
        if night.switch is not None:
            _keep(night.switch, listener)
        return
    production.require_commands()
    change = service.recorded(journal)
    production = service.handle(change.mark)
    try:
        production.stop()
    except Refused:
        settle(change, journal)
        raise
    change = has_stopped(change, journal)
    listener(Warned(message="the live service is stopped for the night's launches"))
    night = Night(was_live=True)
    try:
        yield night
    finally:
        with held_back():
            _bring_up(production, night, listener)
            _bring_traffic_back(production, night, listener)
            settle(change, journal)
        listener(Warned(message="the live service answers again"))


def _bring_up(production: Production, night: Night, listener: Listener) -> None:
    switch = night.switch
    if switch is None:
        _bring_up_known_good(production, listener)
        return
    try:
        production.bring_up()
        switch.check()
    except LaunchFailed as failure:
        switch.failure = failure.message
        listener(Warned(message=f"the new setting does not serve: {failure.message}; it is taken back"))
        with suppress(LaunchFailed):
            production.halt()
        _take_back(production, switch, listener)
    else:
        _keep(switch, listener)


def _bring_traffic_back(production: Production, night: Night, listener: Listener) -> None:
    """Run the hook; when it refuses the new setting, serve the old one and run it again.

    The hook may have let some traffic in before it failed, so the service is stopped as a live one is.
    """
    switch = night.switch
    try:
        production.bring_traffic_back()
    except NotRestored as failure:
        if switch is None or switch.failure:
            raise
        listener(Warned(message=f"{failure.message}; the new setting is taken back"))
        try:
            production.stop()
        except Refused as refusal:
            listener(Warned(message=f"{refusal.message}; the hook worked now, the new setting serves"))
            return
        switch.failure = failure.message
        _take_back(production, switch, listener)
        production.bring_traffic_back()


def _keep(switch: Switch, listener: Listener) -> None:
    """A winner that serves stays, whatever becomes of the note about it: traffic must come back."""
    try:
        switch.keep()
    except (StorageFailed, OSError) as error:
        listener(Warned(message=f"the new setting serves, but that cannot be written down: {error}"))


def _take_back(production: Production, switch: Switch, listener: Listener) -> None:
    """The old setting, served; when it cannot be put back, the service is started all the same."""
    try:
        switch.take_back()
        switch.taken_back = True
    finally:
        _bring_up_known_good(production, listener)


def _bring_up_known_good(production: Production, listener: Listener) -> None:
    """Once more when the first start fails: nothing was changed, so another try may well do."""
    try:
        production.bring_up()
    except LaunchFailed as first:
        listener(Warned(message=f"the live service did not come back: {first.message}; once more"))
        with suppress(LaunchFailed):
            production.halt()
        try:
            production.bring_up()
        except LaunchFailed as failure:
            start = production.commands.start if production.commands else ()
            raise NotRestored(
                f"the service that ran before is not back: {failure.message}",
                hint=f"run: {' '.join(start)}",
            ) from failure
