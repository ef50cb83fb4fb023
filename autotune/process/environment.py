"""Environment: what a service is started with, captured once, without proxies, its risky parts shown."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from autotune.errors import UsageError
from autotune.model.service import Fact

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PROXIES = {"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"}


def read_captured(path: Path) -> dict[str, str]:
    """Read a file written by `env -0` in a shell that sourced what the service needs.

    Entries that no variable can be (exported shell functions) are left out. Raises UsageError when the file
    cannot be read or holds lines instead of NUL-terminated entries.
    """
    hint = "write one with: env -0 > mindie.env, in a shell that sourced what the service needs"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint=hint) from error
    if data and not data.endswith(b"\0"):
        raise UsageError(f"{path} is not the output of `env -0`: it does not end with a NUL byte", hint=hint)
    text = data.decode("utf-8", "surrogateescape")
    pairs = (entry.partition("=") for entry in text.split("\0") if "=" in entry)
    return {name: value for name, _, value in pairs if _NAME.fullmatch(name)}


def write_captured(path: Path, env: Mapping[str, str]) -> None:
    """Write what `read_captured` reads, for its owner alone and synced. Raises OSError."""
    text = "".join(f"{name}={value}\0" for name, value in env.items() if _NAME.fullmatch(name))
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text.encode("utf-8", "surrogateescape"))
        stream.flush()
        os.fsync(handle)


def without_proxies(env: Mapping[str, str]) -> dict[str, str]:
    """Leave out every proxy variable: a proxy in between breaks loopback requests and collective start-up."""
    return {name: value for name, value in env.items() if name.lower() not in _PROXIES}


def notable(env: Mapping[str, str]) -> tuple[Fact, ...]:
    """Give what decides which code runs as the service: PATH and the loader's variables, for the plan."""
    names = sorted(name for name in env if name == "PATH" or name.startswith("LD_"))
    return tuple(Fact(name=name, value=env[name]) for name in names)
