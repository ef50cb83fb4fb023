"""Tree: every process that descends from one that this tool started, also those that tried to get away.

Four signs make a process a member, and nothing else does, least of all its name:
its parent is a member; it is in a process group or session that a member leads or led; its environment
carries the mark of the root; or it came back to this process as an orphan with an environment that was
written over (setproctitle does that) and is in a foreign process group.
"""

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import final

import psutil

from autotune.process.child import MARKER, started_pids
from autotune.process.identity import PROC, TICKS_PER_SECOND, Identity, Stat, read_stat


@final
class Tree:
    """The descendants of one root, remembered over all looks, since a parent may end before its children."""

    def __init__(self, root: Identity, *, proc: Path = PROC) -> None:
        self.root = root
        self._proc = proc
        self._known: set[Identity] = {root}
        self._mark = f"{MARKER}={root.pid}.{round(root.create_time * TICKS_PER_SECOND)}".encode()

    def look(self, *, thorough: bool = False) -> tuple[Stat, ...]:
        """Find the members that exist now, zombies too, the root first if it is there.

        A thorough look also reads environments; it finds double-forked processes that left between two
        looks, and costs some ten microseconds for each process of the host.
        """
        stats = self._all()
        members = {stat.identity: stat for stat in stats if stat.identity in self._known}
        rest = [stat for stat in stats if stat.identity not in members]
        while True:
            more = _followers(rest, members.values(), self._pids_ever())
            if thorough and not more:
                more = [stat for stat in rest if self._carries_mark(stat)]
            if not more:
                break
            members.update((stat.identity, stat) for stat in more)
            rest = [stat for stat in rest if stat.identity not in members]
        self._known.update(members)
        return tuple(
            sorted(members.values(), key=lambda stat: (stat.identity != self.root, stat.identity.pid))
        )

    def living(self, *, thorough: bool = False) -> tuple[Stat, ...]:
        """Find the members that still run."""
        return tuple(stat for stat in self.look(thorough=thorough) if stat.living)

    def pids(self) -> tuple[int, ...]:
        """Look, and give the pids of the members that still run."""
        return tuple(stat.identity.pid for stat in self.living())

    def _pids_ever(self) -> frozenset[int]:
        return frozenset(identity.pid for identity in self._known)

    def _all(self) -> tuple[Stat, ...]:
        """Every process that could be a member: not this one, not init, not older than the root."""
        stats = (read_stat(pid, self._proc) for pid in psutil.pids() if pid > 1 and pid != os.getpid())
        return tuple(stat for stat in stats if stat and stat.identity.create_time >= self.root.create_time)

    def _carries_mark(self, stat: Stat) -> bool:
        environment = self._environment(stat)
        if environment is None:
            return False
        if self._mark in environment.split(b"\0"):
            return True
        return stat.living and b"=" not in environment and self._came_back(stat)

    def _environment(self, stat: Stat) -> bytes | None:
        try:
            return (self._proc / str(stat.identity.pid) / "environ").read_bytes()
        except OSError:
            return None

    def _came_back(self, stat: Stat) -> bool:
        return (
            stat.parent == os.getpid()
            and stat.group != os.getpgrp()
            and stat.identity.pid not in started_pids()
        )


def _followers(stats: Iterable[Stat], members: Collection[Stat], ever: frozenset[int]) -> list[Stat]:
    """Give those that have a member as parent, or are in a group or session that a member leads or led.

    `ever` are the pids of all members so far. A group or session that the root was born in is none of its
    own: the starter's shell and what the user starts there are in it too, also when somebody else ends the
    root from another session.
    """
    pids = {member.identity.pid for member in members}
    led = ever | pids
    groups = {member.group for member in members} & led
    sessions = {member.session for member in members} & led
    return [stat for stat in stats if stat.parent in pids or stat.group in groups or stat.session in sessions]


def names(stats: Iterable[Stat]) -> str:
    """Name processes for a message: `mindieservice_d (4711), python (4712)`."""
    return ", ".join(f"{stat.name} ({stat.identity.pid})" for stat in stats)
