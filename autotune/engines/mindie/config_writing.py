"""Durable writing of config.json: owner, mode and attributes kept, whole or not at all, synced to disk."""

import errno
import glob
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_CANNOT_RENAME: Final = frozenset({errno.EBUSY, errno.EXDEV, errno.EROFS, errno.EACCES, errno.EPERM})
"""What a bind-mounted single file, or a folder that is not ours, answers to a new file or a rename."""
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""No room for a second file; the blocks of the one that is there can still be written."""
_PAGE: Final = 4096
_UNFINISHED: Final = ".autotune"
"""How a file ends that was to become the new config.json; a crash may leave one."""
_NO_ATTRIBUTES: Final = frozenset({errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.EINVAL})
"""Labels of the system (security.*) need rights; a file system may have no attributes at all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rights:
    """Who may do what with a file."""

    mode: int
    uid: int
    gid: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Rights":
        """The rights that a file has."""
        return cls(mode=stat.S_IMODE(status.st_mode), uid=status.st_uid, gid=status.st_gid)


def write_new(path: Path, raw: bytes, rights: Rights) -> None:
    """Write a file that is not there yet, synced, with its rights; nothing is left when it fails.

    Raises OSError.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(raw)
            stream.flush()
            give(descriptor, rights)
            os.fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def put(path: Path, raw: bytes, rights: Rights, *, even_when_full: bool = False) -> bool:
    """Give the file this content and these rights, its extended attributes kept.

    True when it was replaced as a whole, False when it could not be renamed over and was written in place;
    with `even_when_full` also where the disk has no room for a second file.
    Raises OSError; the file is then as it was.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}{_UNFINISHED}")
    try:
        write_new(beside, raw, rights)
        try:
            _copy_attributes(path, beside)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.errno not in (_CANNOT_RENAME | _FULL if even_when_full else _CANNOT_RENAME):
            raise
        _overwrite(path, raw, rights)
        return False
    sync_folder(path.parent)
    return True


def _overwrite(path: Path, raw: bytes, rights: Rights) -> None:
    before = path.read_bytes()
    with _opened(path) as descriptor:
        try:
            _write_all(descriptor, raw)
        except OSError:
            _write_all(descriptor, before)
            raise
        give(descriptor, rights)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, raw: bytes) -> None:
    """Write from the beginning; the file is cut only once everything is on disk."""
    if len(raw) > os.fstat(descriptor).st_size:
        os.posix_fallocate(descriptor, 0, len(raw))
    written = 0
    while written < len(raw):
        written += os.pwrite(descriptor, raw[written:], written)
    os.ftruncate(descriptor, len(raw))
    os.fsync(descriptor)


def is_torn(now: bytes, before: bytes, after: bytes) -> bool:
    """Whether `now` is what an interrupted writing in place leaves: the new pages first, then the old ones.

    Blocks that were reserved and not written yet are zeros.
    """
    length = max(len(before), len(after))
    padded = before.ljust(length, b"\0")
    ends = {0, len(after), *range(_PAGE, len(after), _PAGE)}
    return any(now == after[:end] + padded[end:] for end in ends)


def give(descriptor: int, rights: Rights) -> None:
    """Set owner and mode where they differ. Raises OSError."""
    now = Rights.of(os.fstat(descriptor))
    if (now.uid, now.gid) != (rights.uid, rights.gid):
        os.fchown(descriptor, rights.uid, rights.gid)
        now = Rights.of(os.fstat(descriptor))
    if now.mode != rights.mode:
        os.fchmod(descriptor, rights.mode)


def give_back(path: Path, rights: Rights) -> None:
    """Set a file's owner and mode where they differ. Raises OSError."""
    if Rights.of(path.lstat()) != rights:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            give(descriptor, rights)
        finally:
            os.close(descriptor)


def _copy_attributes(source: Path, target: Path) -> None:
    try:
        names = os.listxattr(source, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_ATTRIBUTES:
            raise
        return
    for name in names:
        with _unless_refused():
            os.setxattr(target, name, os.getxattr(source, name))


@contextmanager
def _unless_refused() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ATTRIBUTES:
            raise


def sweep(path: Path) -> None:
    """Remove what a crash has left beside a file: new contents that never took its place."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{_UNFINISHED}"):
        remove(left)


def remove(path: Path) -> None:
    """Remove a file, when it is there, and make that durable."""
    path.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make what was done to the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
