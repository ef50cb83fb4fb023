"""Lock: one campaign at a time, held by flock so that the kernel frees it with the process."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autotune.errors import Busy
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
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        _take(descriptor, path)
        _write(descriptor, json.dumps(encode(holder or this_process(), Holder)))
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child between fork and exec still has a copy
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Busy(
            f"another run holds {path}{_who(descriptor)}",
            hint="wait until it ends, or stop it with Ctrl-C or SIGTERM: it puts everything back",
        ) from error


def _who(descriptor: int) -> str:
    try:
        document: Json = json.loads(os.pread(descriptor, 4096, 0))
        holder = decode(document, Holder)
    except (ValueError, Unreadable):
        return ""
    purpose = f" ({holder.purpose})" if holder.purpose else ""
    return f": process {holder.pid}{purpose}, since {holder.started}"


def _write(descriptor: int, text: str) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)
