"""Engine processes: EngineCore and workers of a running server, watched so that no death goes unseen.

A server whose engine is dead may answer 200 on /health for ever, so that is no sign of life.
"""

from collections.abc import Iterable
from typing import final

from autotune.process.identity import Identity, Stat
from autotune.process.tree import Tree

_TITLES = ("VLLM::", "VllmWorker", "VLLMWorker", "EngineCore")
"""What vLLM titles them, old and new; only used to watch our own descendants, never to signal."""


@final
class EngineProcesses:
    """Those that were there when the server was ready."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._watched = {stat.identity: stat.name for stat in _engines(tree.look())}

    def missing(self) -> tuple[str, ...]:
        """Name those that are gone."""
        living: set[Identity] = {stat.identity for stat in self._tree.look() if stat.living}
        return tuple(
            f"{name} ({identity.pid})" for identity, name in self._watched.items() if identity not in living
        )


def _engines(stats: Iterable[Stat]) -> tuple[Stat, ...]:
    return tuple(stat for stat in stats if stat.living and stat.name.startswith(_TITLES))
