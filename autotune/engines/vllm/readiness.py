"""Readiness: a server is ready when the process that listens is ours and it has answered a real request."""

from dataclasses import dataclass
from pathlib import Path

from autotune.engines.session import Reply
from autotune.engines.vllm.control import Control, has_text
from autotune.engines.vllm.facts import ServerFacts
from autotune.engines.vllm.log_watch import LogWatch, how_it_ended
from autotune.engines.vllm.server_process import server_process
from autotune.errors import LaunchCause
from autotune.model.protocols import Clock
from autotune.process.child import Child
from autotune.process.identity import PROC, Identity
from autotune.process.tree import Tree

POLL_SECONDS = 0.1
HEALTH_SECONDS = 1.0
"""Short, since an exit is to be noticed at once also while the port is bound and nobody answers yet."""
REPLY_SECONDS = 15.0
"""How long one request for one token is waited for; graph mode compiles in the first: it is asked again."""


@dataclass(kw_only=True, slots=True)
class Start:
    """One start that is being waited for."""

    child: Child
    tree: Tree
    watch: LogWatch
    control: Control
    facts: ServerFacts
    model_name: str
    clock: Clock
    timeout: float
    """Seconds of the host's clock."""
    proc: Path = PROC

    def wait(self) -> Identity:
        """Return the process that listens once it has answered one request for one token.

        Raises LaunchFailed as soon as the server exits, when somebody else listens on its port, or when the
        time is up.
        """
        began = self.clock.now()
        while True:
            self.watch.look()
            seconds = self.clock.now() - began
            self._check_exit(seconds)
            missing = self._missing()
            if not missing:
                return self._server()
            if seconds >= self.timeout:
                how = f"not ready after {seconds:.0f} s: {missing}"
                raise self.watch.failure(how, started=False, otherwise=LaunchCause.TIMEOUT)
            self.clock.sleep(POLL_SECONDS)

    def _check_exit(self, seconds: float) -> None:
        code = self.child.poll()
        if code is not None:
            how = how_it_ended(code, seconds)
            otherwise = LaunchCause.CRASHED if code < 0 else LaunchCause.UNKNOWN
            raise self.watch.failure(how, started=False, otherwise=otherwise)

    def _missing(self) -> str:
        """Say what is still missing; empty when nothing is."""
        health = self.control.get("/health", seconds=HEALTH_SECONDS)
        if health is None:
            return "nobody answers on its port"
        self._server()
        if not health.ok:
            return f"/health answers {health.status}"
        reply = self.control.one_token(self.facts.interface, self.model_name, seconds=REPLY_SECONDS)
        return "" if has_text(reply) else f"a request for one token gets {_shown(reply)}"

    def _server(self) -> Identity:
        return server_process(self.tree, self.facts.port, proc=self.proc)


def _shown(reply: Reply | None) -> str:
    return "no answer" if reply is None else f"{reply.status} {reply.body[:120]}".strip()
