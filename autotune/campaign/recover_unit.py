"""Recover unit: the systemd service that puts things back while the host boots, before production starts."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from autotune.errors import AutotuneError, Refused, UsageError
from autotune.process.command import run
from autotune.store.state import StateDirectory

UNIT_NAME = "autotune-recover.service"
UNIT_DIRECTORY = Path("/etc/systemd/system")
_SECONDS = 30.0
_NAME = re.compile(r"[A-Za-z0-9:_.@\\-]+\.(service|target)")
_UNIT = """\
# Puts back what an autotune run has left changed when the host went down in the middle of it.
[Unit]
Description=Put back what a crashed autotune run has left changed
ConditionPathExists={journal}
RequiresMountsFor={mounts}
Before={before}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={command}
# a service that it starts by the profile's own commands stays
KillMode=process
TimeoutStartSec=1h
UMask=0077

[Install]
WantedBy=multi-user.target
"""


def unit_text(
    state: StateDirectory, *, before: Sequence[str], argv: Sequence[str], places: Sequence[Path]
) -> str:
    """The unit. `before` are production's units, `argv` starts this tool, `places` hold what is put back.

    It does nothing while there is no crash journal. Raises UsageError for a name that is no unit's.
    """
    for name in before:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name} is no name of a unit", hint="--before mindie.service")
    command = (*argv, "recover", "--boot", "--state", str(state.root))
    return _UNIT.format(
        journal=_plain(str(state.journal)),
        mounts=" ".join(quoted(str(place)) for place in (state.root, *places)),
        before=" ".join((*before, "multi-user.target")),
        command=" ".join(map(quoted, command)),
    )


def install(text: str, environment: dict[str, str], work_dir: Path, directory: Path = UNIT_DIRECTORY) -> Path:
    """Write the unit and enable it; gives its path. Raises Refused when that cannot be done."""
    path = directory / UNIT_NAME
    try:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}", hint="run it as root") from error
    for words in (("daemon-reload",), ("enable", UNIT_NAME)):
        _systemctl(words, environment, work_dir)
    return path


def is_installed(directory: Path = UNIT_DIRECTORY) -> bool:
    """Whether the unit is there."""
    return (directory / UNIT_NAME).is_file()


def _systemctl(words: Sequence[str], environment: dict[str, str], work_dir: Path) -> None:
    command = ["systemctl", *words]
    try:
        run(command, env=environment, output=work_dir / "systemctl.log", seconds=_SECONDS)
    except AutotuneError as error:
        raise Refused(f"{' '.join(command)}: {error.message}", hint="is this host run by systemd?") from error


def quoted(word: str) -> str:
    """A word as systemd reads it: % stands for itself, blanks and quotes are kept."""
    escaped = word.replace("\\", "\\\\").replace("%", "%%").replace('"', '\\"').replace("$", "$$")
    return f'"{escaped}"' if escaped != word or re.search(r"\s", word) or not word else word


def _plain(path: str) -> str:
    return path.replace("%", "%%")


def own_command(executable: str) -> tuple[str, ...]:
    """How a unit starts this tool: by the interpreter that runs it now."""
    return (os.path.abspath(executable), "-m", "autotune")  # noqa: PTH100 - a link to a venv must stay one
