"""Leftovers: shared memory that a killed service leaves behind, and that hinders its next start.

MindIE's documentation has them deleted by name before a repeated start; other services of the host use
the same names, so only files that came into being during our own launch and that nobody has open or mapped
are removed.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from autotune.process.identity import PROC

PATTERNS = ("*llm_backend_*", "*llm_tokenizer_shared_memory_*")
"""Names of the service's segments. Source: MindIE installation documentation, repeated start."""


def snapshot(directory: Path) -> frozenset[tuple[str, int]]:
    """Note name and inode of every segment of the service that exists now."""
    return frozenset((path.name, facts.st_ino) for path, facts in _segments(directory))


def noted(segments: frozenset[tuple[str, int]]) -> tuple[str, ...]:
    """A snapshot as the crash journal keeps it."""
    return tuple(sorted(f"{inode} {name}" for name, inode in segments))


def remove_left(directory: Path, notes: Iterable[str], *, proc: Path = PROC) -> tuple[Path, ...]:
    """Remove what a crashed launch left, by the snapshot that the journal kept; tell which."""
    parts = (note.partition(" ") for note in notes)
    return remove_new(directory, frozenset((name, int(inode)) for inode, _, name in parts), proc=proc)


def remove_new(directory: Path, before: frozenset[tuple[str, int]], *, proc: Path = PROC) -> tuple[Path, ...]:
    """Remove the segments that came since `before`, are ours and used by nobody; tell which."""
    candidates = {
        str(path)
        for path, facts in _segments(directory)
        if (path.name, facts.st_ino) not in before and facts.st_uid == os.geteuid()
    }
    unused = _not_used(candidates, proc)
    for path in unused:
        path.unlink(missing_ok=True)
    return unused


def unused(directory: Path, *, proc: Path = PROC) -> tuple[Path, ...]:
    """Name the segments of the service that nobody uses, as far as /proc lets us see."""
    found = {str(path) for path, _ in _segments(directory)}
    return _not_used(found, proc) if found else ()


def _segments(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in directory.iterdir() if directory.is_dir() else ():
        facts = _lstat(path) if any(fnmatchcase(path.name, pattern) for pattern in PATTERNS) else None
        if facts is not None and stat.S_ISREG(facts.st_mode):
            yield path, facts


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _not_used(paths: set[str], proc: Path) -> tuple[Path, ...]:
    """Leave out every file that some process has open or mapped, as far as /proc lets us see."""
    for process in proc.iterdir():
        if not paths:
            break
        if process.name.isdecimal():
            paths = paths.difference(_open(process), _mapped(process))
    return tuple(Path(path) for path in sorted(paths))


def _open(process: Path) -> tuple[str, ...]:
    try:
        return tuple(filter(None, map(_target, (process / "fd").iterdir())))
    except OSError:
        return ()


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""


def _mapped(process: Path) -> tuple[str, ...]:
    try:
        maps = (process / "maps").read_text(errors="replace")
    except OSError:
        return ()
    parts = (line.partition(" /") for line in maps.splitlines())
    return tuple(f"/{path}" for _, found, path in parts if found)
