"""Ending: stop a process tree that this tool started, every member by identity, nothing else."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from autotune.model.protocols import Clock
from autotune.process.child import Child, started_pids
from autotune.process.identity import PROC, Identity, Stat, alive, stat_of
from autotune.process.tree import Tree

POLL_SECONDS = 0.02
SETTLE_SECONDS = 1.0
"""How long descendants may take to follow their root before they are killed."""
KILL_SECONDS = 10.0
"""How long SIGKILL may take; a process in uninterruptible sleep takes longer, and is reported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a tree ended."""

    returncode: int | None
    """Of the root, where it is a child of this process."""
    forced: bool
    """True when the root did not end within its grace and was killed."""
    killed: tuple[Stat, ...]
    """Descendants that outlived the root and were killed."""
    left: tuple[Stat, ...]
    """Members that even SIGKILL did not end, for a person to look at."""
    seconds: float


def send(identity: Identity, number: signal.Signals, proc: Path = PROC) -> bool:
    """Signal exactly this process; False when it is gone. The pid cannot change hands in between."""
    if identity.pid <= 1 or identity.pid == os.getpid():
        return False
    try:
        handle = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return False
    except OSError:  # kernel before 5.3: the smaller promise
        return _send_by_pid(identity, number, proc)
    try:
        if stat_of(identity, proc) is None:
            return False
        signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def _send_by_pid(identity: Identity, number: signal.Signals, proc: Path) -> bool:
    if not alive(identity, proc):
        return False
    try:
        os.kill(identity.pid, number)
    except ProcessLookupError:
        return False
    return True


def end(tree: Tree, *, grace: float, clock: Clock, child: Child | None = None) -> Ended:
    """SIGTERM to the root, `grace` seconds for it, SIGKILL to it and to what is left; zombies are reaped.

    `child` is the root as this process's own child, for its exit code; without it the root may belong to
    an earlier run of the tool. Never raises for a process that is already gone.
    """
    began = clock.now()
    tree.look()
    send(tree.root, signal.SIGTERM)
    send(tree.root, signal.SIGCONT)  # a stopped process would not see it
    forced = not _ends_within(tree.root, child, grace, clock)
    if forced:
        send(tree.root, signal.SIGKILL)
        _ends_within(tree.root, child, KILL_SECONDS, clock)
    killed, rest = _kill_rest(tree, clock)
    _reap(rest)
    return Ended(
        returncode=child.poll() if child else None,
        forced=forced,
        killed=killed,
        left=tuple(stat for stat in rest if stat.living),
        seconds=clock.now() - began,
    )


def _ends_within(root: Identity, child: Child | None, seconds: float, clock: Clock) -> bool:
    deadline = clock.now() + seconds
    while (child.poll() is None if child else True) and alive(root):
        if clock.now() >= deadline:
            return False
        clock.sleep(POLL_SECONDS)
    if child:
        child.wait(KILL_SECONDS)
    return True


def _kill_rest(tree: Tree, clock: Clock) -> tuple[tuple[Stat, ...], tuple[Stat, ...]]:
    """Kill what has not followed the root after a moment; give what was killed, and what is left."""
    began = clock.now()
    killed: dict[Identity, Stat] = {}
    while True:
        rest = tree.look(thorough=True)
        living = [stat for stat in rest if stat.living]
        passed = clock.now() - began
        if not living or passed >= SETTLE_SECONDS + KILL_SECONDS:
            return tuple(killed.values()), rest
        if passed >= SETTLE_SECONDS:
            for stat in living:
                send(stat.identity, signal.SIGKILL)
                killed[stat.identity] = stat
        clock.sleep(POLL_SECONDS)


def _reap(members: tuple[Stat, ...]) -> None:
    """Collect members that came back to this process as orphans; never a child that somebody waits for."""
    for stat in members:
        if stat.parent == os.getpid() and stat.identity.pid not in started_pids() and not stat.living:
            try:
                os.waitpid(stat.identity.pid, os.WNOHANG)
            except ChildProcessError:
                continue
