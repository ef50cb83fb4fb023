"""Durable files: replace a small file as a whole, so that a crash leaves the old one or the new one."""

import os
from contextlib import suppress
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write `text` to `path` as 0600 by a synced file beside it and a rename; the directory is synced too.

    One process writes a file at a time.
    """
    beside = _beside(path)
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def remove(path: Path) -> None:
    """Remove `path`, when it is there, and make that durable."""
    path.unlink(missing_ok=True)
    _beside(path).unlink(missing_ok=True)
    with suppress(FileNotFoundError):  # the whole directory is gone
        _sync_directory(path.parent)


def _beside(path: Path) -> Path:
    """The file that becomes the new one; a crash may leave it, and the next writing takes it away."""
    return path.with_name(f".{path.name}.new")


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
