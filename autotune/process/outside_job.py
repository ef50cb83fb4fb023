"""Outside the job: how a command is started so that it outlives the systemd unit that we run in."""

import os
import re
import shutil
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

_BOOTED = Path("run/systemd/system")
_CALL = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
"""Between systemd and the command: a service that calls setpgrp() must not be a session leader."""


def started_outside(
    argv: tuple[str, ...], environment: Mapping[str, str], *, root: Path = Path("/")
) -> tuple[str, ...]:
    """The command itself, or `systemd-run` with it where we run as root inside a systemd service.

    systemd ends everything in a unit's cgroup when its job ends, and a hardened unit's children see its
    read-only file system; a transient unit of its own has neither. It stays when the command returns.
    """
    tool = shutil.which("systemd-run")
    if tool is None or os.geteuid() != 0 or not (root / _BOOTED).is_dir() or not in_service(root):
        return argv
    return wrapped(argv, environment, tool=tool, python=sys.executable)


def in_service(root: Path = Path("/")) -> bool:
    """Whether the calling process belongs to a systemd service."""
    try:
        text = (root / "proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        return False
    return re.search(r"^(0:|\d+:name=systemd):.*\.service(/|$)", text, re.MULTILINE) is not None


def wrapped(
    argv: tuple[str, ...], environment: Collection[str], *, tool: str, python: str
) -> tuple[str, ...]:
    """The words of systemd-run; variables go by name, so that no value shows in a list of processes."""
    return (
        tool,
        "--quiet",
        "--collect",
        "--same-dir",
        "--service-type=exec",
        "--property=RemainAfterExit=yes",
        "--property=LimitCORE=0",
        *(f"--setenv={name}" for name in sorted(environment)),
        "--",
        python,
        "-c",
        _CALL,
        *argv,
    )
