"""Production: the service that ran before the campaign, stopped and started only as the profile says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from autotune.engines.mindie.addresses import Addresses
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.readiness import has_text, one_token
from autotune.engines.tls import Tls
from autotune.errors import LaunchCause, LaunchFailed, NotRestored, Refused
from autotune.process.child import Child
from autotune.process.clock import SystemClock
from autotune.process.command import begin, failed, run
from autotune.process.marked import marked
from autotune.process.ports import listener, wait_until_free

COMMAND_SECONDS = 180.0
"""How long a stop or start command, or a hook, may take."""
_POLL_SECONDS = 0.25
_REAP_SECONDS = 0.5
"""For a start command that only starts: no zombie of it stays. One that is the service itself goes on."""
STARTED_BY = "AUTOTUNE_STARTED"
"""Variable that the start command gets, with the mark of the run that stopped the service."""
STOPPED_BY = "AUTOTUNE_STOPPED"
"""The same for the stop command and the hook before it: they go on when the run is killed."""
STOP_SECONDS = 25.0
"""How long a daemon that was told to stop may go on answering: 5 s of sleep, 15 s for its children."""
LIVE_HINT = (
    "stop it, or say in the profile how: `engine: {service: {unit: mindie.service}}`, "
    "or `{service: {stop: [...], start: [...]}}`"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductionCommands:
    """How the live service is stopped and started: argv lists, never a shell."""

    stop: tuple[str, ...]
    start: tuple[str, ...]
    before: tuple[str, ...] = ()
    """Hook before it is stopped, for instance to take it out of a load balancer."""
    after: tuple[str, ...] = ()
    """Hook once it answers again."""
    active: tuple[str, ...] = ()
    """Ends with 0 while the service runs, also while it still loads its model and listens nowhere."""


def unit_commands(
    unit: str, *, before: tuple[str, ...] = (), after: tuple[str, ...] = ()
) -> ProductionCommands:
    """Stop and start a systemd unit, so that the service lives in its own cgroup and not in ours."""
    return ProductionCommands(
        stop=("systemctl", "stop", unit),
        start=("systemctl", "start", unit),
        active=("systemctl", "is-active", "--quiet", unit),
        before=before,
        after=after,
    )


@final
class Production:
    """The live service of one install."""

    def __init__(
        self,
        *,
        addresses: Addresses,
        commands: ProductionCommands | None,
        environment: Mapping[str, str],
        work_dir: Path,
        answer_timeout: float = 900.0,
        tls: Tls | None = None,
        mark: str = "",
        asks: Callable[[], bool] | None = None,
    ) -> None:
        self._mark = mark
        self._asks = asks
        self._addresses = addresses
        self._commands = commands
        self._environment = environment
        self._work_dir = work_dir
        self._timeout = answer_timeout
        self._tls = tls
        self._clock = SystemClock()
        self._started: Child | None = None

    @property
    def commands(self) -> ProductionCommands | None:
        """How the profile says it is stopped and started."""
        return self._commands

    def is_live(self) -> bool:
        """Whether somebody listens on the service's business port, or its unit is active."""
        return listener(self._addresses.port) is not None or self._is_active()

    def require_commands(self) -> None:
        """Raise Refused when a service is live and the profile does not say how to stop and start it."""
        owner = listener(self._addresses.port)
        if owner is not None and self._commands is None:
            raise Refused(f"a service is live: {owner}", hint=LIVE_HINT)

    def stop(self) -> None:
        """Run the hook, stop the service, and wait until it has left its ports.

        Raises Refused when it does not leave; the other hook is then run, since it still serves. Raises
        NotRestored when that hook fails.
        """
        if self._commands is None:
            return
        try:
            self._run("before", self._commands.before)
            self._run("stop", self._commands.stop)
            self._wait_for_leaving()
        except LaunchFailed as failure:
            self._call_back(self._commands)
            raise Refused(
                f"the live service was not stopped: {failure.message}",
                hint=f"try it by hand: {' '.join(self._commands.stop)}",
            ) from failure

    def start(self, *, outlast_stop: bool = False) -> None:
        """Start the service, wait until it answers a real request, and run the hook.

        The start command may return at once or stay as the service itself; a service that somebody has
        started already is only waited for. With `outlast_stop` a stop may be going on, begun by a run that
        was killed: the service may answer now and be gone in a moment. Raises NotRestored when it does not
        answer in time, with the command that starts it.
        """
        if self._commands is None:
            return
        try:
            if outlast_stop:
                self._outlast_stop()
            self._bring_back(self._commands)
        except LaunchFailed as failure:
            raise NotRestored(
                f"the service that ran before is not back: {failure.message}",
                hint=f"run: {' '.join(self._commands.start)}",
            ) from failure
        self._call_back(self._commands)

    def halt(self) -> None:
        """Stop it without the hook, for one that has no traffic now. Raises LaunchFailed."""
        if self._commands is not None:
            self._run("stop", self._commands.stop)
            self._wait_for_leaving()

    def bring_up(self) -> None:
        """Start it and wait until it answers, without the hook. Raises LaunchFailed."""
        if self._commands is not None:
            self._bring_back(self._commands)

    def bring_traffic_back(self) -> None:
        """Run the hook that follows a start. Raises NotRestored."""
        if self._commands is not None:
            self._call_back(self._commands)

    def queue(self, unit: str) -> None:
        """Have systemd start the unit as soon as its order allows, without waiting. Raises NotRestored."""
        command = ("systemctl", "start", "--no-block", unit)
        try:
            self._run("queue", command)
        except LaunchFailed as failure:
            raise NotRestored(
                f"the start of {unit} could not be queued: {failure.message}",
                hint=f"run: systemctl start {unit}",
            ) from failure

    def answers(self) -> bool:
        """Whether it answers a real request for one token; `asks` does that for a service of another kind."""
        if self._asks is not None:
            return self._asks()
        with ControlPlane(self._tls) as control:
            return has_text(one_token(control, self._addresses))

    def _bring_back(self, commands: ProductionCommands) -> None:
        started: Child | None = None
        output = self._output("start")
        deadline = self._clock.now() + self._timeout
        while not self.answers():
            if started is None and not self.is_live() and not self._is_starting():
                started = self._begin(commands, output)
            code = started.poll() if started else None
            if code:
                raise failed(commands.start, code, output)
            if self._clock.now() >= deadline:
                raise LaunchFailed(LaunchCause.TIMEOUT, f"it does not answer within {self._timeout:.0f} s")
            self._clock.sleep(_POLL_SECONDS)
        if started is not None:
            started.wait(_REAP_SECONDS)
        self._started = started  # kept: a start command may stay as the service itself

    def _outlast_stop(self) -> None:
        """Wait for the commands of a killed run, and for a daemon that may have been told to stop."""
        began = self._clock.now()
        while self._mark and marked(STOPPED_BY, self._mark):
            if self._clock.now() - began >= COMMAND_SECONDS:
                return
            self._clock.sleep(_POLL_SECONDS)
        began = self._clock.now()
        while self.answers() and self._clock.now() - began < self._most_stop_seconds():
            self._clock.sleep(_POLL_SECONDS)

    def _most_stop_seconds(self) -> float:
        """A unit that answers and is not active is most likely being stopped."""
        return COMMAND_SECONDS if self._has_unit() and not self._is_active() else STOP_SECONDS

    def _begin(self, commands: ProductionCommands, output: Path) -> Child:
        if self._asks is None:  # the daemon binds without SO_REUSEADDR, vLLM with it
            wait_until_free(self._addresses.ports, clock=self._clock)
        environment = {**self._environment, STARTED_BY: self._mark} if self._mark else self._environment
        return begin(commands.start, env=environment, output=output)

    def _is_starting(self) -> bool:
        """Whether a start that was begun by an earlier, killed call goes on."""
        return bool(self._mark) and bool(marked(STARTED_BY, self._mark))

    def _call_back(self, commands: ProductionCommands) -> None:
        """Run the hook that brings traffic back."""
        try:
            self._run("after", commands.after)
        except LaunchFailed as failure:
            raise NotRestored(
                f"the service answers, but the hook after it failed: {failure.message}",
                hint=f"run: {' '.join(commands.after)}",
            ) from failure

    def _wait_for_leaving(self) -> None:
        deadline = self._clock.now() + COMMAND_SECONDS
        while (owner := listener(self._addresses.port)) is not None:
            if self._clock.now() >= deadline:
                raise LaunchFailed(
                    LaunchCause.PORT, f"{owner} {COMMAND_SECONDS:.0f} s after the stop command"
                )
            self._clock.sleep(_POLL_SECONDS)

    def _has_unit(self) -> bool:
        return self._commands is not None and bool(self._commands.active)

    def _is_active(self) -> bool:
        if self._commands is None or not self._commands.active:
            return False
        try:
            self._run("active", self._commands.active)
        except LaunchFailed:
            return False
        return True

    def _run(self, name: str, argv: tuple[str, ...]) -> None:
        if argv:
            mark = {STOPPED_BY: self._mark} if self._mark and name in {"before", "stop"} else {}
            environment = {**self._environment, **mark}
            run(argv, env=environment, output=self._output(name), seconds=COMMAND_SECONDS)

    def _output(self, name: str) -> Path:
        self._work_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._work_dir / f"production-{name}.log"
