"""State directory: where campaigns, the crash journal, locks and backups live on this host."""

import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Refused

SYSTEM_DIRECTORY = Path("/var/lib/ascend-autotune")
NAME = "ascend-autotune"
PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600
ROOT_UID = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class StateDirectory:
    """The places inside one state directory. All directories are 0700, all files 0600."""

    root: Path

    @property
    def database(self) -> Path:
        """SQLite file of all campaigns."""
        return self.root / "campaigns.db"

    @property
    def database_url(self) -> str:
        """The same as Optuna takes it."""
        return f"sqlite:///{self.database}"

    @property
    def journal(self) -> Path:
        """The crash journal; exists only while something is changed."""
        return self.root / "journal.json"

    @property
    def lock(self) -> Path:
        """Lock of this state directory."""
        return self.root / "lock"

    def run(self, name: str) -> Path:
        """Directory of one run: backups, private configurations, logs of the service."""
        return self.root / "runs" / name

    def drop_if_empty(self, name: str) -> None:
        """Remove the directory of a run that was only planned."""
        with suppress(OSError):  # it holds something, or is not there
            self.run(name).rmdir()

    def make(self, *, uid: int) -> None:
        """Create what is missing. Raises Refused when the directory is not safe to keep state in."""
        make_private(self.root, uid=uid)
        make_private(self.root / "runs", uid=uid)


def locate(given: Path | None, *, environment: Mapping[str, str], uid: int) -> StateDirectory:
    """The given directory, else /var/lib/ascend-autotune for root, else one under XDG_STATE_HOME.

    Raises Refused when neither XDG_STATE_HOME nor HOME is an absolute path.
    """
    if given is not None:
        return StateDirectory(root=given.absolute())
    if uid == ROOT_UID:
        return StateDirectory(root=SYSTEM_DIRECTORY)
    state_home = Path(environment.get("XDG_STATE_HOME", ""))
    if not state_home.is_absolute():
        home = Path(environment.get("HOME", ""))
        if not home.is_absolute():
            raise Refused(
                "no place for the state directory: HOME is not set",
                hint="set HOME, or store.state in the profile",
            )
        state_home = home / ".local" / "state"
    return StateDirectory(root=state_home / NAME)


def make_private(directory: Path, *, uid: int) -> None:
    """Create `directory` as 0700; one that exists must be ours, and is narrowed to 0700.

    Raises Refused for a directory of another user, a link, or something that is no directory.
    """
    try:
        directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(
            f"cannot create the state directory {directory}: {error.strerror}",
            hint="give another with store.state in the profile",
        ) from error
    facts = directory.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != uid:
        raise Refused(
            f"{directory} is a link or belongs to another user (uid {facts.st_uid}, we are {uid})",
            hint="give another with store.state in the profile",
        )
    if stat.S_IMODE(facts.st_mode) != PRIVATE_DIRECTORY:
        directory.chmod(PRIVATE_DIRECTORY)


def make_private_file(path: Path) -> None:
    """Create an empty 0600 file, or narrow an existing one to 0600."""
    path.touch(mode=PRIVATE_FILE, exist_ok=True)
    path.chmod(PRIVATE_FILE)
