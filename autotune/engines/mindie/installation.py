"""Installation: what is found on disk before anything is touched, refused where it cannot be used."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.engines.mindie.addresses import Addresses, addresses_of
from autotune.engines.mindie.config_file import ConfigFile, read
from autotune.engines.mindie.daemon_environment import CONFIG_PATH
from autotune.engines.mindie.marker import Emulated, read_marker
from autotune.engines.mindie.several_daemons import refuse_deployer
from autotune.errors import Refused

EXECUTABLES = ("bin/mindieservice_daemon", "bin/mindie_llm_server")
"""Relative to the install; the second name is that of wheels since 2.3."""
SYSTEM_EXECUTABLES = (Path("/usr/local/bin/mindie_llm_server"),)
_VERSION_FILES = ("version.info", "../version.info", "version.txt")
_VERSION = re.compile(r"\b(\d+\.\d+(?:\.(?:RC|T|B)?\d+)*)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Installation:
    """One install as found."""

    home: Path
    executable: Path
    config: ConfigFile
    """The file that production reads, with what it says."""
    addresses: Addresses
    version: str
    """Empty when no file tells."""
    emulated: Emulated | None


def find(home: Path, environment: Mapping[str, str]) -> Installation:
    """Look at an install. Raises Refused with the command that mends it."""
    if not home.is_dir():
        raise Refused(
            f"there is no MindIE service at {home}",
            hint="set engine.home to the mindie-service directory, or: autotune emulate --install DIR",
        )
    refuse_deployer(home)
    emulated = read_marker(home)
    config = read(config_path(home, environment))
    return Installation(
        home=home,
        executable=executable_of(home),
        config=config,
        addresses=addresses_of(config.document, environment),
        version=version_of(home) or (emulated.version if emulated else ""),
        emulated=emulated,
    )


def config_path(home: Path, environment: Mapping[str, str]) -> Path:
    """Name the file that the daemon reads: the one of its environment, else that of its install."""
    given = environment.get(CONFIG_PATH)
    return Path(given) if given else home / "conf" / "config.json"


def executable_of(home: Path) -> Path:
    """The daemon's program. Raises Refused when there is none that can be executed."""
    candidates = (*(home / name for name in EXECUTABLES), *SYSTEM_EXECUTABLES)
    for path in candidates:
        if path.is_file():
            if not os.access(path, os.X_OK):
                raise Refused(f"{path} cannot be executed", hint=f"chmod u+x {path}")
            return path
    raise Refused(
        f"{home} holds no daemon: none of {', '.join(EXECUTABLES)}",
        hint="set engine.home to the directory that holds bin/mindieservice_daemon",
    )


def version_of(home: Path) -> str:
    """The version that a file of the install tells; empty when none does."""
    for name in _VERSION_FILES:
        try:
            text = (home / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = _VERSION.search(text)
        if found:
            return found[1]
    return ""
