"""The child processes that MindIE has: tokenizers with the daemon's own name, and one connector a rank.

They do nothing and cost little; they are there to be found, counted and ended.
"""

import ctypes
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG."""
_LONG: Final = "2147483647"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A child that has ended."""

    pid: int
    code: int
    """Exit code, or the negative number of the signal that ended it."""

    @property
    def badly(self) -> bool:
        """Whether its end takes the service down."""
        return self.code != 0


class Children:
    """Starts the children in the daemon's own process group, and waits for them."""

    def __init__(self, *, orphans: bool) -> None:
        self._orphans = orphans
        self._pids: set[int] = set()
        self._connectors: list[int] = []

    @property
    def pids(self) -> frozenset[int]:
        """The children that have not ended."""
        return frozenset(self._pids)

    @property
    def connectors(self) -> tuple[int, ...]:
        """Those of the ranks."""
        return tuple(self._connectors)

    def start_tokenizers(self, count: int) -> None:
        """Fork this many copies of the daemon; must be called before the event loop exists."""
        for _ in range(count):
            self._fork(_pause)

    def start_connectors(self, program: Path, count: int) -> None:
        """Start one connector a rank."""
        for _ in range(count):
            self._connectors.append(self._fork(lambda: os.execv(program, [program.name, _LONG])))  # noqa: S606

    def descriptors(self) -> list[int]:
        """A descriptor for each child that becomes readable when the child ends; none on old kernels."""
        try:
            return [os.pidfd_open(pid) for pid in sorted(self._pids)]
        except OSError:
            return []

    def send(self, number: signal.Signals) -> None:
        """Send a signal to all that live."""
        for pid in self._pids:
            os.kill(pid, number)

    def kill_one(self) -> None:
        """Kill a rank, as if it had crashed."""
        for pid in self._connectors or sorted(self._pids):
            if pid in self._pids:
                os.kill(pid, signal.SIGKILL)
                return

    def reap(self) -> list[Ended]:
        """Collect those that have ended since the last time."""
        ended = []
        for pid in sorted(self._pids):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self._pids.discard(pid)
                ended.append(Ended(pid=pid, code=os.waitstatus_to_exitcode(status)))
        return ended

    def _fork(self, work: Callable[[], None]) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _become_child(parent, orphans=self._orphans)
            work()
            os._exit(0)
        self._pids.add(pid)
        return pid


def _become_child(parent: int, *, orphans: bool) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    if not orphans:
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(0)
    descriptor = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(descriptor, standard)


def _pause() -> None:
    while True:
        signal.pause()
