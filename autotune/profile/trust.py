"""Trust: a profile decides what runs as root, so nobody else may be able to write it."""

import os
import shlex
import stat
from contextlib import ExitStack
from pathlib import Path

from autotune.errors import Fault, ProfileError

_LARGEST_BYTES = 1024 * 1024


def read_trusted_text(path: Path, *, caller: int) -> str:
    """The text of a file that belongs to root or to `caller` (a uid) and that nobody else can write.

    The open file is checked, not its name. Raises ProfileError.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refusal(path, f"can't be read: {reason}", f"ls -l {shlex.quote(str(path.parent))}") from error
    with ExitStack() as stack:
        stack.callback(os.close, descriptor)
        _check(path, os.fstat(descriptor), caller)
        content = b"".join(iter(lambda: os.read(descriptor, _LARGEST_BYTES), b""))
    return _decoded(path, content)


def _check(path: Path, status: os.stat_result, caller: int) -> None:
    name = shlex.quote(str(path))
    if not stat.S_ISREG(status.st_mode):
        raise _refusal(path, "is not a regular file", "name the profile's YAML file")
    if status.st_size > _LARGEST_BYTES:
        raise _refusal(path, "is larger than 1 MiB; that is no profile", "")
    if status.st_uid not in {0, caller}:
        message = f"belongs to uid {status.st_uid}, neither to root nor to you (uid {caller})"
        raise _refusal(path, message, f"chown {caller} {name}")
    writable = stat.S_IMODE(status.st_mode) & (stat.S_IWGRP | stat.S_IWOTH)
    if writable:
        message = f"can be written by others (mode {stat.S_IMODE(status.st_mode):04o})"
        raise _refusal(path, message, f"chmod go-w {name}")


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"byte {content[error.start]:#04x} is not UTF-8"
        fault = Fault(place="(file)", line=line, message=message, hint="save the file as UTF-8")
        raise ProfileError(str(path), (fault,)) from error


def _refusal(path: Path, message: str, hint: str) -> ProfileError:
    return ProfileError(str(path), (Fault(place="(file)", line=None, message=message),), hint=hint)
