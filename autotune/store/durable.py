"""Durable files: replace a small file as a whole, so that a crash leaves the old one or the new one."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write `text` to `path` as 0600 by a synced temporary file and a rename; the directory is synced too."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def remove(path: Path) -> None:
    """Remove `path`, when it is there, and make that durable."""
    path.unlink(missing_ok=True)
    with suppress(FileNotFoundError):  # the whole directory is gone
        _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
