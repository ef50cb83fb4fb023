"""Lock: one campaign at a time, held by flock so that the kernel frees it with the process."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autotune.errors import Busy, Refused
from autotune.foreign import json_value
from autotune.store.codec import Json, Unreadable, decode, encode
from autotune.store.state import PRIVATE_FILE


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """Who holds a lock, for the message."""

    pid: int
    started: str
    """When, as text for people."""
    boot_id: str
    purpose: str = ""


def this_process(purpose: str = "", *, proc: Path = Path("/proc")) -> Holder:
    """The Holder of the calling process, now."""
    now = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    boot_id = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return Holder(pid=os.getpid(), started=now, boot_id=boot_id, purpose=purpose)


@contextmanager
def hold(path: Path, holder: Holder | None = None) -> Iterator[None]:
    """Hold the lock at `path`. Raises Busy at once when another process holds it.

    The descriptor is not inheritable (PEP 446): a daemon that outlives this process does not keep the
    lock. The file stays; removing it would let two processes lock two files of one name.
    Raises Refused when the lock belongs to another user.
    """
    descriptor = _opened(path)
    try:
        _take(descriptor, path)
        _write(descriptor, json.dumps(encode(holder or this_process(), Holder)))
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child between fork and exec still has a copy
        os.close(descriptor)


def refuse_held(path: Path) -> None:
    """Raise Busy when a process holds the lock at `path`; creates nothing and takes nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        _take(descriptor, path, fcntl.LOCK_SH)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """Open or create it; a lock of another user in /run/lock can't be opened with O_CREAT even by root."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags if path.exists() else flags | os.O_CREAT, PRIVATE_FILE)
    except PermissionError as error:
        raise Refused(
            f"the lock {path} belongs to another user",
            hint="run as the user of the earlier runs, or remove the file while none of them goes on",
        ) from error


def _take(descriptor: int, path: Path, kind: int = fcntl.LOCK_EX) -> None:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Busy(
            f"another run holds {path}{_who(descriptor)}",
            hint="wait until it ends, or stop it with Ctrl-C or SIGTERM: it puts everything back",
        ) from error


def _who(descriptor: int) -> str:
    try:
        document: Json = json_value(os.pread(descriptor, 4096, 0).decode())
        holder = decode(document, Holder)
    except (ValueError, Unreadable):
        return ""
    purpose = f" ({holder.purpose})" if holder.purpose else ""
    return f": process {holder.pid}{purpose}, since {holder.started}"


def _write(descriptor: int, text: str) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)
