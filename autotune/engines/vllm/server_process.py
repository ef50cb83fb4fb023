"""Server process: which process of a launch is the server that listens, whatever shells stand around it."""

from pathlib import Path

from autotune.errors import LaunchCause, LaunchFailed
from autotune.process.identity import Identity, Stat
from autotune.process.ports import listener
from autotune.process.tree import Tree


def server_process(tree: Tree, port: int, *, proc: Path) -> Identity:
    """The process of the tree that listens: the uppermost, since engines may be forked from it.

    The root where /proc does not tell. Raises LaunchFailed(PORT) when somebody else listens: an older
    server would answer just as well.
    """
    owner = listener(port)
    if owner is None or owner.pid is None:
        return tree.root
    members = {stat.identity.pid: stat for stat in tree.living()}
    if owner.pid not in members:
        message = f"another server answers: {owner}"
        raise LaunchFailed(LaunchCause.PORT, message, lines=(message,))
    sockets = _sockets(owner.pid, proc)
    found = members[owner.pid]
    for stat in _ancestors(found, members):
        if sockets & _sockets(stat.identity.pid, proc):
            found = stat
    return found.identity


def _ancestors(stat: Stat, members: dict[int, Stat]) -> list[Stat]:
    """Parents within the tree, nearest first."""
    found: list[Stat] = []
    parent = members.get(stat.parent)
    while parent is not None and parent not in found:
        found.append(parent)
        parent = members.get(parent.parent)
    return found


def _sockets(pid: int, proc: Path) -> frozenset[str]:
    """Inodes of the sockets that a process has open."""
    try:
        names = [_target(descriptor) for descriptor in (proc / str(pid) / "fd").iterdir()]
    except OSError:
        return frozenset()
    return frozenset(name for name in names if name.startswith("socket:"))


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""
