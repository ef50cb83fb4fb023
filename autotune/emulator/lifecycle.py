"""How the daemon ends: killing its own group after a bad start, and the slow sequence of a stop."""

import asyncio
import os
import resource
import signal
import sys
from typing import Final, NoReturn

from autotune.emulator.children import Children
from autotune.emulator.clock import ServiceClock
from autotune.emulator.logs import ServerLog
from autotune.emulator.shared_memory import SharedFiles
from autotune.mindie_rules import log_printing

_QUIET_SECONDS: Final = 5.0
_PATIENCE_NEW: Final = 15
_PATIENCE_OLD: Final = 10


def say(line: str) -> None:
    """A line on standard output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def complain(line: str) -> None:
    """A line on standard error."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def kill_own_group() -> NoReturn:
    """End this process and its children at once, as a bad start does; the exit status is -9."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.killpg(os.getpgrp(), signal.SIGKILL)
    while True:  # the signal is on its way
        signal.pause()


class Ending:
    """The sequence after SIGTERM, SIGINT, or the death of a child; it ends with SIGABRT."""

    def __init__(
        self, children: Children, clock: ServiceClock, log: ServerLog, shared: SharedFiles, *, major: int
    ) -> None:
        self._children = children
        self._clock = clock
        self._log = log
        self._shared = shared
        self._patience = _PATIENCE_NEW if major >= 3 else _PATIENCE_OLD  # noqa: PLR2004 - 3.x waits longer
        self.begun = False

    async def run(self, *, quiet: bool) -> NoReturn:
        """End all; `quiet` is the pause of 5 s between a signal and its effect."""
        self.begun = True
        if quiet:
            await asyncio.sleep(self._clock.host_seconds(_QUIET_SECONDS))
        complain(log_printing.killing(15))
        for what in ("stop endpoint", "stop mindie server", "stop the parent process of endpoint"):
            self._log.audit("system", what, "success")
        self._log.flush()
        self._children.send(signal.SIGTERM)
        os.kill(os.getppid(), signal.SIGCHLD)
        await self._wait()
        self._children.send(signal.SIGKILL)
        self._reap()
        self._shared.remove_own()
        self._abort()

    async def _wait(self) -> None:
        second = 0
        while True:
            await asyncio.sleep(min(0.02, self._clock.host_seconds(1.0)))
            self._reap()
            if not self._children.pids:
                complain(log_printing.ALL_EXITED)
                return
            if second >= self._patience:
                complain(log_printing.FORCED)
                return
            await asyncio.sleep(self._clock.host_seconds(1.0))
            second += 1
            complain(log_printing.waiting(second, self._patience))

    def _reap(self) -> None:
        for child in self._children.reap():
            say(f"Reaped child {child.pid}")

    def _abort(self) -> NoReturn:
        """Die by SIGABRT, without a core of the interpreter."""
        self._log.flush()
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
        os.abort()
