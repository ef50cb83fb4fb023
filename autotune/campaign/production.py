"""Production: the service that ran before is stopped for the trials and answers again at the end."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autotune.engines.mindie.addresses import addresses_of
from autotune.engines.mindie.config_file import read as read_config
from autotune.engines.mindie.options import Tls
from autotune.engines.mindie.production import Production, ProductionCommands, unit_commands
from autotune.errors import Refused
from autotune.events import Warned
from autotune.model.change import ServiceStopped
from autotune.model.protocols import Journal, Listener
from autotune.process.environment import read_captured
from autotune.process.held_back import held_back
from autotune.profile.schema import ServiceSection


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductionService:
    """The live service of an install, and how the profile says it is stopped and started."""

    config_path: Path
    section: ServiceSection | None
    environment: Mapping[str, str]
    environment_file: Path | None
    work_dir: Path
    start_timeout: float
    tls: Tls | None = None

    def is_live(self) -> bool:
        """Whether it runs now."""
        return self._production().is_live()

    @contextmanager
    def stopped(self, journal: Journal, listener: Listener) -> Iterator[None]:
        """Stop it for the block, if it runs. Raises Refused when it may not be or does not stop.

        Raises NotRestored when it does not answer again at the end.
        """
        production = self._production()
        if not production.is_live():
            yield
            return
        production.require_commands()
        change = self._change()
        journal.record(change)
        try:
            production.stop()
        except Refused:
            journal.settle(change)
            raise
        listener(Warned(message="the live service is stopped for the time of the trials"))
        try:
            yield
        finally:
            with held_back():
                production.start()
                journal.settle(change)
            listener(Warned(message="the live service answers again"))

    def _production(self) -> Production:
        return Production(
            addresses=addresses_of(read_config(self.config_path).config.document.value),
            commands=commands_of(self.section),
            environment=self.environment,
            work_dir=self.work_dir,
            answer_timeout=self.start_timeout,
            tls=self.tls,
        )

    def _change(self) -> ServiceStopped:
        commands = commands_of(self.section)
        assert commands is not None, "require_commands() has made sure of it"
        return ServiceStopped(
            start=commands.start,
            after=commands.after,
            active=commands.active,
            config_path=str(self.config_path),
            environment=str(self.environment_file or ""),
        )


def commands_of(section: ServiceSection | None) -> ProductionCommands | None:
    """The commands of the profile; None when it says nothing."""
    if section is None:
        return None
    before, after = section.before or (), section.after or ()
    if section.unit is not None:
        return unit_commands(section.unit, before=before, after=after)
    assert section.stop is not None, "the profile's own check makes sure of it"
    assert section.start is not None, "the profile's own check makes sure of it"
    return ProductionCommands(stop=section.stop, start=section.start, before=before, after=after)


def bring_back(change: ServiceStopped, work_dir: Path) -> None:
    """Start a service that a crashed run has left stopped; running already is fine. Raises NotRestored."""
    path = Path(change.config_path)
    environment = read_captured(Path(change.environment)) if change.environment else dict(os.environ)
    Production(
        addresses=addresses_of(read_config(path).config.document.value),
        commands=ProductionCommands(stop=(), start=change.start, after=change.after, active=change.active),
        environment=environment,
        work_dir=work_dir,
    ).start()
