"""config.json as a file: read with its owner and mode, replaced so that a crash can undo it, put back."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autotune.engines.mindie.config_text import ConfigText, read_config_text, same_but_for_logging
from autotune.engines.mindie.config_writing import Rights, give_back, is_torn, put, remove, sweep, write_new
from autotune.errors import NotRestored, Refused
from autotune.mindie_rules.checking.console import Console
from autotune.mindie_rules.checking.file import MODE, SIZE_HIGH, FileFacts, check_file
from autotune.mindie_rules.json_text import JsonValue
from autotune.model.change import FileChanged
from autotune.model.protocols import Journal

Announce = Callable[[str], None]
"""Takes a sentence that a person should see."""

_FOLDER_MODE: Final = 0o700


class WrongRights(Refused):
    """A file whose mode, owner or kind the service would not read, whatever it says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigFile:
    """A config.json that the service would read: its bytes, its rights and what it says."""

    path: Path
    raw: bytes
    mode: int
    uid: int
    gid: int
    sha256: str
    config: ConfigText
    """The text with its fields."""

    @property
    def text(self) -> str:
        """The text; bytes that are no UTF-8 as lone surrogates."""
        return self.config.text

    @property
    def document(self) -> JsonValue:
        """The parsed text."""
        return self.config.document.value


def read(path: Path, *, daemon_uid: int | None = None) -> ConfigFile:
    """Read a config.json as the service would.

    `daemon_uid` is the user that the service runs as; None is the caller. Raises Refused, with the command
    that mends it, for a file that the service would refuse: missing, a link, too large or empty, of another
    owner, with wider rights than 640, or not JSON.
    """
    status = _look_at(path)
    facts = FileFacts(
        path=str(path),
        mode=stat.S_IMODE(status.st_mode),
        owner_uid=status.st_uid,
        process_uid=os.geteuid() if daemon_uid is None else daemon_uid,
    )
    console = Console()
    if not check_file(console, facts, status.st_size):
        refused = WrongRights if 1 <= status.st_size <= SIZE_HIGH else Refused
        said, mend = console.output[0], _mend(facts, status.st_size, named=daemon_uid is not None)
        raise refused(f"the service would refuse {path}: {said}", hint=mend)
    raw = _bytes_of(path)
    try:
        config = read_config_text(decode(raw))
    except Refused as fault:
        raise Refused(f"{path}: {fault.message}", hint=fault.hint) from fault
    return ConfigFile(
        path=path,
        raw=raw,
        mode=facts.mode,
        uid=status.st_uid,
        gid=status.st_gid,
        sha256=_sha256(raw),
        config=config,
    )


def _look_at(path: Path) -> os.stat_result:
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise Refused(
            f"{path} does not exist", hint="set engine.home to the install that runs, or put a backup back"
        ) from None
    except PermissionError:
        raise WrongRights(f"{path} cannot be reached", hint="run as the user of the service") from None
    if stat.S_ISLNK(status.st_mode):
        real = os.path.realpath(path)
        raise WrongRights(f"{path} is a link to {real}", hint=f"cp -p --remove-destination {real} {path}")
    if not stat.S_ISREG(status.st_mode):
        raise Refused(f"{path} is no regular file", hint="give the config.json of the service")
    return status


def _mend(facts: FileFacts, size: int, *, named: bool) -> str:
    """`named` says that the service's user is known; else the file's owner is taken for it."""
    if not 1 <= size <= SIZE_HIGH:
        state = "empty" if not size else "larger than 10 MB"
        return f"put a backup of {facts.path} back: it is {state}"
    if facts.owner_uid != facts.process_uid and not named:
        return (
            f"trials run as their caller: sudo -u '#{facts.owner_uid}' autotune ...; "
            f"or, when the service runs as you: chown {facts.process_uid} {facts.path}"
        )
    if facts.owner_uid != facts.process_uid:
        return f"chown {facts.process_uid} {facts.path}"
    return f"chmod {MODE:o} {facts.path}"


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except PermissionError:
        raise WrongRights(f"{path} cannot be read", hint="run as the user of the service") from None


def decode(raw: bytes) -> str:
    """The bytes as text; `encode` gives the same bytes back, whatever they are."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes of a text that `decode` gave."""
    return text.encode("utf-8", "surrogateescape")


def write_private(path: Path, text: str) -> None:
    """Write a private copy of a configuration, 0640 and the caller's own. Raises Refused."""
    rights = Rights(mode=MODE, uid=os.geteuid(), gid=os.getegid())
    with _refused(path):
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        write_new(path, encode(text), rights)


def replace(
    path: Path, text: str, journal: Journal, backup_dir: Path, *, announce: Announce | None = None
) -> FileChanged:
    """Replace the file's content: the old one kept in `backup_dir`, the journal written, then the file.

    Mode, owner and extended attributes stay. A file that cannot be renamed over (a bind mount) is written in
    place, which is announced. Raises Refused when it cannot be done; everything is then as it was.
    """
    status = _look_at(path)
    before, after, rights = _bytes_of(path), encode(text), Rights.of(status)
    backup = backup_dir / f"{path.name}.{_sha256(before)[:16]}.before"
    change = FileChanged(
        path=str(path),
        backup=str(backup),
        before_sha256=_sha256(before),
        after_sha256=_sha256(after),
        mode=rights.mode,
        uid=rights.uid,
        gid=rights.gid,
    )
    with _refused(path):
        _keep(backup, before, rights)
        try:
            _keep(_copy_of_after(change), after, rights)
            journal.record(change)
            whole = put(path, after, rights)
        except BaseException:
            _take_back(change, before, rights, journal)
            raise
    if not whole and announce is not None:
        announce(f"{path} cannot be replaced as a whole (a bind mount?): it was written in place")
    return change


def _keep(backup: Path, before: bytes, rights: Rights) -> None:
    backup.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    if backup.is_file() and backup.read_bytes() == before:
        give_back(backup, rights)
        return
    backup.unlink(missing_ok=True)
    write_new(backup, before, rights)


def _take_back(change: FileChanged, before: bytes, rights: Rights, journal: Journal) -> None:
    path = Path(change.path)
    if path.read_bytes() != before:
        put(path, before, rights)
    journal.settle(change)
    forget(change)


def _copy_of_after(change: FileChanged) -> Path:
    """What was written, kept to tell the service's rewriting of it, and a torn writing, from an edit."""
    return Path(change.backup).with_name(f"{Path(change.path).name}.{change.after_sha256[:16]}.after")


def forget(change: FileChanged) -> None:
    """Remove the copies that were kept for putting the file back."""
    remove(Path(change.backup))
    remove(_copy_of_after(change))


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Refused(
            f"{path} cannot be written: {error.strerror or error}",
            hint="free some space, or run as a user who may write it; nothing was changed",
        ) from error


def restore(change: FileChanged, *, journal: Journal | None = None, known: bytes | None = None) -> None:
    """Put the file back as it was before the change, byte for byte, with its mode and owner.

    Fine when that is done already, and when the service itself has rewritten LogConfig. The journal,
    when given, is settled and the backup removed. `known` are the bytes before, for a caller that still has
    them: the backup may be gone. Raises NotRestored when somebody else has edited the file
    since: it is never overwritten.
    """
    path = Path(change.path)
    rights = Rights(mode=change.mode, uid=change.uid, gid=change.gid)
    with _not_restored(change):
        now = path.read_bytes()
        if _sha256(now) != change.before_sha256:
            before = _backup_of(change, known)
            if not same_but_for_logging(decode(now), decode(before)):
                _refuse_foreign(now, before, change)
                put(path, before, rights, even_when_full=True)
        give_back(path, rights)
        sweep(path)
    if journal is not None:
        journal.settle(change)
        forget(change)


def _backup_of(change: FileChanged, known: bytes | None) -> bytes:
    before = Path(change.backup).read_bytes() if known is None else known
    if _sha256(before) != change.before_sha256:
        raise NotRestored(
            f"the backup {change.backup} is not what {change.path} was",
            hint=f"compare {change.path} with a backup of your own",
        )
    return before


def _refuse_foreign(now: bytes, before: bytes, change: FileChanged) -> None:
    """Raise NotRestored unless the file is what this tool wrote, the service's own LogConfig left aside."""
    if _sha256(now) == change.after_sha256:
        return
    copy = _copy_of_after(change)
    after = copy.read_bytes() if copy.is_file() else b""
    known = _sha256(after) == change.after_sha256
    torn = is_torn(now, before, after) or is_torn(now, after, before)  # when it was written, or put back
    if known and (torn or same_but_for_logging(decode(now), decode(after))):
        return
    raise NotRestored(
        f"{change.path} was edited by somebody else since the trial; it is left as it is, "
        f"and the one before the trial is in {change.backup}",
        hint=f"diff {change.backup} {change.path}",
    )


@contextmanager
def _not_restored(change: FileChanged) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotRestored(
            f"{change.path} could not be put back: {error.strerror or error}",
            hint=f"cp -p {change.backup} {change.path}",
        ) from error


def _sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
