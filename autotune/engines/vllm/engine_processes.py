"""Engine processes: EngineCore and workers of a running server, watched so that no death goes unseen.

A server whose engine is dead may answer 200 on /health for ever, so that is no sign of life.
"""

from collections.abc import Callable, Collection, Iterable
from typing import final

from autotune.process.identity import Identity, Stat
from autotune.process.tree import Tree

_TITLES = ("VLLM::", "VllmWorker", "VLLMWorker", "EngineCore")
"""What vLLM titles them, old and new; only used to watch our own descendants, never to signal."""


@final
class EngineProcesses:
    """Those that were there when the server was ready; `seen` is given the pids of all at every look."""

    def __init__(self, tree: Tree, seen: Callable[[Collection[int]], None]) -> None:
        self._tree = tree
        self._seen = seen
        self._watched = {stat.identity: stat.name for stat in _engines(self._look())}

    def missing(self) -> tuple[str, ...]:
        """Name those that are gone."""
        living: set[Identity] = {stat.identity for stat in self._look()}
        return tuple(
            f"{name} ({identity.pid})" for identity, name in self._watched.items() if identity not in living
        )

    def _look(self) -> tuple[Stat, ...]:
        living = self._tree.living()
        self._seen([stat.identity.pid for stat in living])
        return living


def _engines(stats: Iterable[Stat]) -> tuple[Stat, ...]:
    return tuple(stat for stat in stats if stat.name.startswith(_TITLES))
