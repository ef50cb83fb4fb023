"""Scheduling: where the nightly units go, and what they may write there."""

from collections.abc import Mapping
from pathlib import Path

from autotune.campaign.nightly.units import Places, Units
from autotune.campaign.sides.service_place import service_place
from autotune.errors import AutotuneError, Refused, UsageError
from autotune.process.command import run
from autotune.profile.schema import Profile
from autotune.store.state import SYSTEM_DIRECTORY

UNIT_DIRECTORY = Path("/etc/systemd/system")
_SECONDS = 30.0
_MODE = 0o644
_DAEMON_WRITES = ("/dev/shm", "/run/lock")  # noqa: S108 - named for ReadWritePaths, never written here
"""Shared memory of the service, and the lock."""


def places_of(profile: Profile, path: Path, command: tuple[str, ...], home: Path) -> Places:
    """What the job on this host has to write: configuration, reports, state, textfile, the service's logs."""
    written = [*map(Path, _DAEMON_WRITES), home / "mindie", profile.report.directory.absolute()]
    place = service_place(profile) if profile.engine.kind != "rehearsal" else ""
    if Path(place).is_absolute():
        written.append(Path(place).parent)
    if profile.store.state is not None and profile.store.state != SYSTEM_DIRECTORY:
        written.append(profile.store.state.absolute())
    if profile.nightly.textfile is not None:
        written.append(profile.nightly.textfile.absolute().parent)
    return Places(profile=path.absolute(), command=command, writable=tuple(written))


def install(
    units: Units, environment: Mapping[str, str], work_dir: Path, directory: Path = UNIT_DIRECTORY
) -> tuple[str, ...]:
    """Write both units and enable the timer; one line for each. Raises Refused when that cannot be done."""
    lines = []
    for ending, text in (("service", units.service), ("timer", units.timer)):
        path = directory / f"{units.name}.{ending}"
        try:
            path.write_text(text, encoding="utf-8")
            path.chmod(_MODE)
        except OSError as error:
            raise Refused(f"{path} cannot be written: {error.strerror}", hint="run it as root") from error
        lines.append(f"{path}: written")
    for words in (("daemon-reload",), ("enable", "--now", f"{units.name}.timer")):
        command = ["systemctl", *words]
        try:
            run(command, env=environment, output=work_dir / "systemctl.log", seconds=_SECONDS)
        except AutotuneError as error:
            raise Refused(
                f"{' '.join(command)}: {error.message}", hint="is this host run by systemd?"
            ) from error
    return (*lines, f"{units.name}.timer: enabled")


def check_container(name: str) -> str:
    """The name, when it can be one. Raises UsageError."""
    if (
        not name
        or name.startswith("-")
        or not name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    ):
        raise UsageError(f"{name!r} is no name of a container", hint="docker ps lists them")
    return name
