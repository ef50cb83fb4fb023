"""Production: the service that ran before is stopped for the trials and answers again at the end."""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from autotune.engines.mindie.addresses import Addresses, addresses_of
from autotune.engines.mindie.config_file import read as read_config
from autotune.engines.mindie.production import STARTED_BY, Production, ProductionCommands, unit_commands
from autotune.engines.tls import Tls
from autotune.engines.vllm.live import answers
from autotune.errors import AutotuneError, NotRestored, Refused
from autotune.events import Warned
from autotune.model.change import ServedModel, ServiceStopped
from autotune.model.protocols import Journal, Listener
from autotune.process.environment import read_captured, write_captured
from autotune.process.held_back import held_back
from autotune.process.outside_job import started_outside
from autotune.profile.schema import ServiceSection


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductionService:
    """The live service of an install, and how the profile says it is stopped and started."""

    config_path: Path
    section: ServiceSection | None
    environment: Mapping[str, str]
    work_dir: Path
    start_timeout: float
    tls: Tls | None = None
    served: ServedModel | None = None
    """A vLLM server; None for MindIE, whose configuration says where it listens."""
    api_key: str | None = None
    """Of a vLLM server; it is kept in no journal."""

    def is_live(self) -> bool:
        """Whether it runs now."""
        return self._production(self._addresses()).is_live()

    def handle(self, mark: str = "") -> Production:
        """The service itself, with its addresses as the configuration says now; `mark` is that of a stop."""
        return self._production(self._addresses(), mark=mark)

    @contextmanager
    def stopped(self, journal: Journal, listener: Listener) -> Iterator[None]:
        """Stop it for the block, if it runs. Raises Refused when it may not be or does not stop.

        Raises NotRestored when it does not answer again at the end.
        """
        production = self._production(self._addresses())
        if not production.is_live():
            yield
            return
        production.require_commands()
        change = self.recorded(journal)
        production = self._production(self._addresses(), mark=change.mark)
        try:
            production.stop()
        except Refused:
            settle(change, journal)
            raise
        change = has_stopped(change, journal)
        try:
            listener(Warned(message="the live service is stopped for the time of the trials"))
            yield
        finally:
            with held_back():
                production.start()
                settle(change, journal)
            listener(Warned(message="the live service answers again"))

    def recorded(self, journal: Journal) -> ServiceStopped:
        """Write down how it is started again, with the environment for that, before it is stopped.

        Raises Refused when the journal cannot be written.
        """
        commands = commands_of(self.section)
        assert commands is not None, "require_commands() has made sure of it"
        environment = self.work_dir / "production.env"
        tls = self.tls
        change = ServiceStopped(
            start=commands.start,
            after=commands.after,
            active=commands.active,
            config_path=str(self.config_path),
            served=self.served,
            environment=str(environment),
            unit=(self.section.unit or "") if self.section else "",
            mark=secrets.token_hex(8),
            stopping=True,
            answer_seconds=self.start_timeout,
            tls_ca=_text(tls.ca if tls else None),
            tls_cert=_text(tls.cert if tls else None),
            tls_key=_text(tls.key if tls else None),
            tls_password_file=_text(tls.password_file if tls else None),
        )
        try:
            write_captured(environment, self.environment)
            journal.record(change)
        except OSError as error:
            environment.unlink(missing_ok=True)
            raise Refused(
                f"the crash journal cannot be written: {error.strerror or error}",
                hint="free some space in the state directory; the live service was not touched",
            ) from error
        return change

    def _addresses(self) -> Addresses:
        if self.served is not None:
            return _addresses_of_server(self.served)
        return addresses_of(read_config(self.config_path).config.document.value, self.environment)

    def _production(self, addresses: Addresses, *, mark: str = "") -> Production:
        commands = commands_of(self.section)
        if commands is not None and self.section is not None and self.section.unit is None:
            names = {**self.environment, STARTED_BY: mark}
            commands = replace(commands, start=started_outside(commands.start, names))
        return Production(
            addresses=addresses,
            commands=commands,
            environment=self.environment,
            work_dir=self.work_dir,
            answer_timeout=self.start_timeout,
            tls=self.tls,
            mark=mark,
            asks=_asks(self.served, self.tls, self.api_key),
        )


def _addresses_of_server(served: ServedModel) -> Addresses:
    return Addresses(
        scheme=served.scheme,
        host=served.host,
        port=served.port,
        management_host=served.host,
        management_port=served.port,
    )


def _asks(served: ServedModel | None, tls: Tls | None, api_key: str | None) -> Callable[[], bool] | None:
    """What tells whether a vLLM server answers; None for MindIE, which is asked in its own way."""
    return None if served is None else partial(answers, served, tls=tls, api_key=api_key)


def has_stopped(change: ServiceStopped, journal: Journal) -> ServiceStopped:
    """Write down that it has stopped; where that cannot be written the first entry serves as well."""
    stopped = replace(change, stopping=False)
    try:
        journal.record(stopped)
    except OSError:
        return change
    journal.settle(change)
    return stopped


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


def settle(change: ServiceStopped, journal: Journal) -> None:
    """It answers again: forget it, and the environment that was kept for its start.

    Raises NotRestored when the journal cannot be written.
    """
    try:
        journal.settle(change)
    except OSError as error:
        raise NotRestored(
            f"the live service answers again, but the crash journal cannot be written: {error}",
            hint="free some space, then: autotune recover",
        ) from error
    if change.environment:
        Path(change.environment).unlink(missing_ok=True)


def bring_back(change: ServiceStopped, work_dir: Path) -> None:
    """Start a service that a crashed run has left stopped; running already is fine. Raises NotRestored."""
    _of_change(change, work_dir).start(outlast_stop=change.stopping)


def bring_back_later(change: ServiceStopped, work_dir: Path) -> None:
    """Queue the start of its systemd unit and do not wait. Raises NotRestored."""
    _of_change(change, work_dir).queue(change.unit)


def _of_change(change: ServiceStopped, work_dir: Path) -> Production:
    try:
        environment = _environment(change)
        addresses = _addresses_of_change(change, environment)
    except AutotuneError as error:
        raise NotRestored(
            f"the service that ran before is not back: {error.message}",
            hint=f"{error.hint}; then run: {' '.join(change.start)}",
        ) from error
    return Production(
        addresses=addresses,
        commands=ProductionCommands(stop=(), start=change.start, after=change.after, active=change.active),
        environment=environment,
        work_dir=work_dir,
        answer_timeout=change.answer_seconds,
        tls=_tls(change),
        mark=change.mark,
        asks=_asks(change.served, _tls(change), environment.get("VLLM_API_KEY")),
    )


def _addresses_of_change(change: ServiceStopped, environment: Mapping[str, str]) -> Addresses:
    if change.served is not None:
        return _addresses_of_server(change.served)
    return addresses_of(read_config(Path(change.config_path)).config.document.value, environment)


def _environment(change: ServiceStopped) -> Mapping[str, str]:
    """What it was started with before; the caller's own where the file is gone."""
    path = Path(change.environment) if change.environment else None
    return read_captured(path) if path is not None and path.exists() else dict(os.environ)


def _tls(change: ServiceStopped) -> Tls | None:
    if not change.tls_ca:
        return None
    return Tls(
        ca=Path(change.tls_ca),
        cert=_path(change.tls_cert),
        key=_path(change.tls_key),
        password_file=_path(change.tls_password_file),
    )


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _text(path: Path | None) -> str:
    return str(path) if path else ""
