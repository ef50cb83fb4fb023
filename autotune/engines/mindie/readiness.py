"""Readiness: a service is ready when it has answered a real request, and not before."""

import socket
from dataclasses import dataclass

from autotune.engines.mindie.addresses import Addresses
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.daemon_environment import CONFIG_PATH
from autotune.engines.mindie.log_watch import LogWatch
from autotune.engines.session import Reply
from autotune.errors import LaunchCause, LaunchFailed, Refused
from autotune.mindie_rules.interfaces import HEALTH_READY
from autotune.model.protocols import Clock
from autotune.process.child import Child
from autotune.process.identity import stat_of
from autotune.process.linger import NO_LINGER
from autotune.process.ports import listener
from autotune.process.tree import Tree

POLL_SECONDS = 0.05
CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 120.0
"""How long a service may take from its start line to its first real answer, in seconds of the host."""
REPLY_SECONDS = 10.0
STOPPED = "T"
"""State of a background process that wanted to read from the terminal."""
_NOT_FOUND = 404


@dataclass(kw_only=True, slots=True)
class Start:
    """One start that is being waited for."""

    child: Child
    tree: Tree
    watch: LogWatch
    control: ControlPlane
    addresses: Addresses
    clock: Clock
    timeout: float
    """Seconds of the host's clock."""
    forbidden_port: int | None = None
    """Port of the service's own configuration, when it was given a private one: it must not listen there."""

    def wait(self) -> None:
        """Return once the service has answered one request for one token.

        Raises LaunchFailed as soon as it exits, or when the time is up, with the class that its lines tell.
        """
        began = self.clock.now()
        limit = began + self.timeout
        announced = False
        while True:
            self.watch.look()
            self._check_exit(self.clock.now() - began)
            missing = self._missing()
            if not missing:
                return
            now = self.clock.now()
            if self.watch.announced and not announced:
                announced, limit = True, min(limit, now + ANSWER_SECONDS)
            if now >= limit:
                raise self._timed_out(now - began, missing)
            self.clock.sleep(POLL_SECONDS)

    def _listens(self) -> bool:
        """Look cheaply, many times: whether the management port is open."""
        try:
            address = (self.addresses.management_host, self.addresses.management_port)
            with socket.create_connection(address, timeout=CONNECT_SECONDS) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        except OSError:
            return False
        return True

    def _check_place(self) -> None:
        """Raise Refused when the daemon listens where its own configuration says."""
        owner = listener(self.forbidden_port) if self.forbidden_port is not None else None
        if owner is not None and owner.pid in {stat.identity.pid for stat in self.tree.living()}:
            raise Refused(
                f"this daemon does not read its configuration from {CONFIG_PATH}: "
                f"it listens on port {owner.port}, as its own config.json says",
                hint="allow its config.json to be edited, in the profile: `engine: {config_mode: in-place}`",
            )

    def _check_exit(self, seconds: float) -> None:
        code = self.child.poll()
        if code is not None:
            raise self.watch.failure(code, seconds=seconds, started=False)
        stat = stat_of(self.child.identity)
        prompt = self.watch.prompt()
        if prompt or (stat is not None and stat.state == STOPPED):
            asked = f": {prompt}" if prompt else ""
            message = (
                f"the daemon asks for something on the terminal, most likely the password of a key{asked}"
            )
            raise LaunchFailed(LaunchCause.CONFIG, message, lines=(message,))

    def _timed_out(self, seconds: float, state: str) -> LaunchFailed:
        reading = self.watch.reading()
        cause = reading.cause or LaunchCause.TIMEOUT
        lines = reading.error_lines or (state,)
        return LaunchFailed(cause, f"the service is not ready after {seconds:.0f} s: {state}", lines=lines)

    def _missing(self) -> str:
        """Say what is still missing; empty when nothing is.

        It only ever connects: binding a port here to see whether it is taken could make the daemon's own
        bind fail.
        """
        if not self.watch.announced and not self._listens():
            return "it has not opened its port"
        health = self.control.get(f"{self.addresses.management}{HEALTH_READY}")
        if health is None:
            if self.watch.announced:
                self._check_place()
            return "its management interface does not answer"
        if not health.ok and health.status != _NOT_FOUND:  # the oldest versions have no such interface
            return f"{HEALTH_READY} answers {health.status}"
        reply = one_token(self.control, self.addresses)
        if has_text(reply):
            return ""
        said = "it says that it started, but " if self.watch.announced else ""
        return f"{said}a request for one token gets {_shown(reply)}"


def one_token(control: ControlPlane, addresses: Addresses) -> Reply | None:
    """Ask for one token over the interface that every version has."""
    document = {"inputs": "1", "parameters": {"max_new_tokens": 1, "do_sample": False}}
    return control.post(f"{addresses.business}/generate", document, seconds=REPLY_SECONDS)


def has_text(reply: Reply | None) -> bool:
    """Whether a reply is a generated text; status 200 alone is not."""
    return reply is not None and reply.ok and '"generated_text"' in reply.body


def _shown(reply: Reply | None) -> str:
    return "no answer" if reply is None else f"{reply.status} {reply.body[:120]}".strip()
