"""Running: one started MindIE service, as the load and the campaign see it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import final

from autotune.engines.mindie.addresses import Addresses
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.log_watch import LogWatch
from autotune.engines.mindie.read_back import counters
from autotune.errors import LaunchFailed
from autotune.model.protocols import Clock
from autotune.model.service import Blocks, Counters, Endpoint
from autotune.process.child import Child
from autotune.process.tree import Tree

LOOK_SECONDS = 5.0
"""How often descendants are looked for while the service is under load."""
READ_SECONDS = 1.0
"""How often its output and its logs are read then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What a running service is made of."""

    child: Child
    tree: Tree
    watch: LogWatch
    control: ControlPlane
    addresses: Addresses
    clock: Clock
    monitored: bool
    """Whether /metrics is served."""
    keep_logs: Callable[[], None]
    """Copies what the service logged elsewhere beside the launch."""
    processes_seen: Callable[[Collection[int]], None]
    """Given the pids of its processes whenever they are looked for."""


@final
class RunningMindie:
    """A service that has answered; see `Service`."""

    def __init__(self, parts: Parts, *, model_name: str, blocks: Blocks | None) -> None:
        self._parts = parts
        self._blocks = blocks
        self._began = self._looked = self._read = parts.clock.now()
        addresses = parts.addresses
        self._endpoint = Endpoint(
            url=addresses.business, model_name=model_name, management_url=addresses.management
        )

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens."""
        return self._endpoint

    @property
    def blocks(self) -> Blocks | None:
        """KV blocks of this start."""
        return self._blocks

    def assume(self, blocks: Blocks) -> None:
        """Take the KV blocks that a probing start told: this start tells none."""
        self._blocks = blocks

    @property
    def pid(self) -> int:
        """Pid of the daemon."""
        return self._parts.child.pid

    def counters(self) -> Counters | None:
        """Ask it for its counters; None when this version has none, or when it does not answer."""
        self._look_around()
        return counters(self._parts.control, self._parts.addresses, monitored=self._parts.monitored)

    def check(self) -> None:
        """Raise LaunchFailed when the daemon has ended, or says that its NPU memory ran out.

        The vendor's trouble-shooting page: a daemon whose memory ran out may stay and answer nobody.
        """
        code = self._parts.child.poll()
        if code is not None:
            raise self._failure(code)
        self._look_around()
        self._read_lines()

    def _failure(self, code: int) -> LaunchFailed:
        seconds = self._parts.clock.now() - self._began
        self._parts.keep_logs()
        return self._parts.watch.failure(code, seconds=seconds, started=True)

    def _read_lines(self) -> None:
        now = self._parts.clock.now()
        if now - self._read < READ_SECONDS:
            return
        self._read = now
        failure = self._parts.watch.memory_ran_out()
        if failure is not None:
            self._parts.keep_logs()
            raise failure

    def _look_around(self) -> None:
        now = self._parts.clock.now()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            self._parts.processes_seen(self._parts.tree.pids())
            self._parts.watch.cap()
