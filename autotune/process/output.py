"""Output: what a child prints, read as it grows, made safe to show, and kept from filling the disk."""

import re
from pathlib import Path
from typing import final

from autotune.units import MiB

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
LINE_CHARACTERS = 4000
KEEP_BYTES = MiB
CAP_BYTES = 64 * MiB
CUT = b"\n[... output cut here to keep the file small ...]\n"


def plain(text: str, *, characters: int | None = LINE_CHARACTERS) -> str:
    """Remove ANSI escapes and control characters, and cut to a bearable length (None: leave the length)."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text))[:characters]


@final
class OutputReader:
    """Reads a growing file line by line; never twice, never half a line."""

    def __init__(self, path: Path, *, cap_bytes: int = CAP_BYTES, keep_bytes: int = KEEP_BYTES) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self._cap = cap_bytes
        self._keep = keep_bytes

    @property
    def unfinished(self) -> str:
        """What stands after the last line end, for instance a prompt."""
        return self._rest.decode(errors="replace")

    def new_lines(self) -> tuple[str, ...]:
        """Give the complete lines that came since the last call; a file that is not there yet has none.

        After a very long silence only the newest `cap_bytes` are read.
        """
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, 2)
                if size < self._offset:  # truncated or begun anew by its writer
                    self._offset, self._rest = 0, b""
                start = max(self._offset, size - self._cap)
                file.seek(start)
                data = self._rest + file.read(size - start)
                self._offset = size
        except FileNotFoundError:
            return ()
        *lines, self._rest = data.split(b"\n")
        self._rest = self._rest[-LINE_CHARACTERS:]
        return tuple(plain(line.decode(errors="replace")) for line in lines)

    def cap(self) -> bool:
        """Cut the file to its first and last `keep_bytes` when it grew beyond `cap_bytes`.

        Its writer must append, as children of this package do. What it writes in the same instant is lost.
        """
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return False
        if size <= self._cap:
            return False
        with self._path.open("r+b") as file:
            file.seek(size - self._keep)
            last = file.read()
            file.truncate(self._keep)
            file.seek(0, 2)
            file.write(CUT + last)
            self._offset = file.tell()
        return True


def tail(path: Path, *, lines: int = 40, read_bytes: int = KEEP_BYTES) -> tuple[str, ...]:
    """Give the last lines of a file, plain; none when it is not there."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - read_bytes))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ()
    return tuple(plain(line) for line in text.splitlines()[-lines:])
