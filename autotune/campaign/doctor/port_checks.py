"""Ports: whether a service could listen, who stands in the way, and how production is stopped for it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.engines.mindie.production import LIVE_HINT
from autotune.errors import LaunchFailed
from autotune.host.short_command import Ask, NoAnswer, ask
from autotune.process.ports import Owner, choose_free, is_free, listener
from autotune.profile.schema import ServiceSection

_SECONDS = 2.0
_PORTS = 3
"""Business, management, metrics."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PortFacts:
    """The ports of the service's own configuration as they stand."""

    ports: tuple[int, ...]
    busy: tuple[int, ...]
    owners: tuple[Owner, ...]
    """Who listens; a port may be busy without anybody: closed connections rest."""
    loopback: bool
    """Whether three free ports were found for trials that listen elsewhere."""


def gather_ports(ports: tuple[int, ...]) -> PortFacts:
    """Probe each port as MindIE's daemon does; nothing ever listens."""
    busy = tuple(port for port in ports if not is_free(port))
    owners = tuple(owner for port in busy if (owner := listener(port)) is not None)
    try:
        loopback = bool(choose_free(_PORTS, leases=None))
    except LaunchFailed:
        loopback = False
    return PortFacts(ports=ports, busy=busy, owners=owners, loopback=loopback)


def port_check(facts: PortFacts, *, service: ServiceSection | None, private: bool) -> Check:
    """A listener is production, if the profile says how to stop it, else a reason not to begin."""
    shown = ", ".join(map(str, facts.ports)) or "chosen at the start"
    if facts.owners and service is None:
        return error("ports", "; ".join(map(str, facts.owners)), LIVE_HINT)
    if facts.owners:
        fact = f"{facts.owners[0]}: the live service, stopped for the trials and started again"
        return fine("ports", fact)
    if facts.busy:
        ports = ", ".join(map(str, facts.busy))
        fact = f"{ports}: closed connections of an earlier service still rest there"
        return advice("ports", fact, "wait a minute; a launch waits up to 75 s by itself")
    if private and not facts.loopback:
        mend = 'sysctl -w net.ipv4.ip_local_port_range="32768 60999"'
        return error("ports", "no three free loopback ports outside the outgoing range", mend)
    where = "; trials listen on free loopback ports" if private else ""
    return fine("ports", f"{shown} free{where}")


def service_check(
    section: ServiceSection | None, environment: Mapping[str, str], *, run: Ask = ask
) -> tuple[Check, ...]:
    """Whether what the profile says of production can be done; nothing when it says nothing."""
    if section is None:
        return ()
    if section.unit is not None:
        return (_unit(section.unit, run),)
    commands = (section.stop, section.start, section.before, section.after)
    for command in commands:
        if command and shutil.which(command[0], path=environment.get("PATH")) is None:
            fact = f"there is no program {command[0]}, which the profile names for the live service"
            return (error("service", fact, f"correct engine.service in the profile, or: type {command[0]}"),)
    return (fine("service", f"stopped by {command_text(section.stop)} and started by its own command"),)


def _unit(unit: str, run: Ask) -> Check:
    answer = run(["systemctl", "show", "--property=LoadState,ActiveState", unit], _SECONDS)
    if answer.no_answer is NoAnswer.MISSING:
        mend = "engine: {service: {stop: [...], start: [...]}}"
        return error("service", f"the profile names the unit {unit}, and there is no systemctl", mend)
    values = dict(line.partition("=")[::2] for line in answer.output.splitlines())
    if values.get("LoadState") != "loaded":
        state = values.get("LoadState") or "unknown to systemd"
        return error("service", f"the unit {unit} is {state}", f"systemctl status {unit}")
    return fine("service", f"{unit} is {values.get('ActiveState', 'unknown')}")


def command_text(argv: tuple[str, ...] | None) -> str:
    """A command for a message."""
    return " ".join(argv or ())
