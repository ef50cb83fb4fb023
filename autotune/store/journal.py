"""Crash journal: what is changed on the host is in one small synced file before it is changed."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.errors import NotRestored
from autotune.foreign import json_value
from autotune.model.change import Change
from autotune.store.codec import Json, Unreadable, decode, encode
from autotune.store.durable import remove, replace_text

FORMAT = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfinished:
    """What a run changed and has not put back, oldest change first."""

    run: str
    pid: int
    boot_id: str
    started_wall: float
    """Seconds since the epoch."""
    create_time: float | None = None
    """Start of the process in seconds since boot, which steps of the host's clock do not move."""
    changes: tuple[Change, ...] = ()
    format: int = FORMAT


class FileJournal:
    """The Journal of one run in one file, which exists only while there is something to put back.

    Opened on the file of a crashed run it goes on from there, so that `recover` can settle its changes.
    """

    def __init__(self, path: Path, header: Unfinished) -> None:
        self._path = path
        self._state = unfinished(path) or header

    @property
    def changes(self) -> tuple[Change, ...]:
        """What is not settled, oldest first; undo in the reverse order."""
        return self._state.changes

    def record(self, change: Change) -> None:
        """Make the intention durable before the change is made."""
        if change not in self._state.changes:
            self._write((*self._state.changes, change))

    def settle(self, change: Change) -> None:
        """The change was undone, or kept on purpose: forget it; no matter when it is not there.

        On a full disk the file goes on telling of it while others are open: undoing it again does nothing,
        and the last one only removes the file.
        """
        if change not in self._state.changes:
            return
        left = tuple(entry for entry in self._state.changes if entry != change)
        try:
            self._write(left)
        except OSError:
            if not left:
                raise
            self._state = replace(self._state, changes=left)

    def _write(self, changes: tuple[Change, ...]) -> None:
        state = replace(self._state, changes=changes)
        if changes:
            replace_text(self._path, json.dumps(encode(state, Unfinished), indent=1) + "\n")
        else:
            remove(self._path)
        self._state = state


def unfinished(path: Path) -> Unfinished | None:
    """The unfinished run that `path` tells of; None when there is none.

    Raises NotRestored when the file is there and cannot be read: only a person can tell what was changed.
    """
    try:
        document: Json = json_value(path.read_text(encoding="utf-8"))
        return decode(document, Unfinished)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, Unreadable) as error:
        raise NotRestored(
            f"the crash journal {path} cannot be read: {error}",
            hint="compare the service's configuration with its backup by hand, then remove the file",
        ) from error
