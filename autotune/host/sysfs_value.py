"""Sysfs value: read and write one kernel setting, with failures named as a person would."""

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from autotune.host.setting import SettingOutcome

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO}
_FORBIDDEN = {errno.EACCES, errno.EPERM}


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteFailure:
    """Why the kernel did not take a value."""

    outcome: SettingOutcome
    reason: str


def read_value(path: Path) -> str | None:
    """The value in force; of `always [madvise] never` the word in brackets. None when it can't be read."""
    text = read_words(path)
    if text is None:
        return None
    chosen = [word[1:-1] for word in text if word.startswith("[") and word.endswith("]")]
    return chosen[0] if chosen else " ".join(text)


def offered_values(path: Path) -> tuple[str, ...]:
    """All words of a file, such as the governors that a driver knows; none when it can't be read."""
    return tuple(word.strip("[]") for word in read_words(path) or ())


def read_words(path: Path) -> tuple[str, ...] | None:
    """The words of a small file; None when it can't be read, which some drivers answer with EINVAL."""
    try:
        return tuple(path.read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return None


def write_value(path: Path, value: str) -> WriteFailure | None:
    """Write a value in one go and without creating the file; None when the kernel took it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
        try:
            os.write(descriptor, value.encode("ascii"))
        finally:
            os.close(descriptor)
    except OSError as error:
        return _failure(error)
    return None


def _failure(error: OSError) -> WriteFailure:
    if error.errno in _ABSENT:
        return WriteFailure(outcome=SettingOutcome.UNAVAILABLE, reason="this host has no such setting")
    if error.errno == errno.EINVAL:
        return WriteFailure(outcome=SettingOutcome.UNAVAILABLE, reason="the kernel refuses the value")
    if error.errno == errno.EROFS:
        return WriteFailure(outcome=SettingOutcome.DENIED, reason="/sys is read-only here, as in a container")
    if error.errno in _FORBIDDEN:
        reason = (
            "needs root" if os.geteuid() else "forbidden even to root, as in a container without the right"
        )
        return WriteFailure(outcome=SettingOutcome.DENIED, reason=reason)
    return WriteFailure(outcome=SettingOutcome.DENIED, reason=error.strerror or str(error))
