"""The daemon's environment: the captured one, without proxies, with what this launch adds."""

import re
from collections.abc import Mapping
from pathlib import Path

from autotune.engines.mindie.options import Logs
from autotune.errors import Refused
from autotune.mindie_rules.bounds import Stage, Version, parse_version
from autotune.mindie_rules.fields import CONTAINER_IP, CONTAINER_MANAGEMENT_IP
from autotune.process.environment import without_proxies

CONFIG_PATH = "MIES_CONFIG_JSON_PATH"
MONITOR_MODE = "MIES_SERVICE_MONITOR_MODE"
LOG_PATH = "MINDIE_LOG_PATH"
INSTALL_PATH = "MIES_INSTALL_PATH"
"""The install of 1.x and 2.x; MINDIE_LLM_HOME_PATH is that of 3.x."""
HOME_PATH = "MINDIE_LLM_HOME_PATH"

STATUS_SINCE = Version(major=2, minor=3, stage=Stage.TRIAL)
_LEVELS = ("MINDIE_LOG_LEVEL", "MINDIE_LLM_PYTHON_LOG_LEVEL", "MIES_PYTHON_LOG_LEVEL")
_TELLING = re.compile(r"\b(?:INFO|DEBUG|VERBOSE)\b", re.IGNORECASE)
_PROBING = {
    "MINDIE_LOG_LEVEL": "INFO",
    "MINDIE_LOG_TO_STDOUT": "1",
    "MINDIE_LLM_PYTHON_LOG_LEVEL": "INFO",
    "MINDIE_LLM_PYTHON_LOG_TO_STDOUT": "1",
    "MIES_PYTHON_LOG_LEVEL": "INFO",
    "MIES_PYTHON_LOG_TO_STDOUT": "1",
}
"""The names of 3.x, and those of 1.x and 2.x; a name that a version does not know is harmless."""


def daemon_environment(
    captured: Mapping[str, str],
    *,
    home: Path,
    config: Path | None,
    log_directory: Path,
    logs: Logs,
    monitoring: bool | None,
) -> dict[str, str]:
    """Build what the daemon is started with; `config` is the private copy, if there is one."""
    env = {INSTALL_PATH: str(home), HOME_PATH: str(home)} | without_proxies(captured)
    env[LOG_PATH] = str(log_directory)
    if config is not None:
        env[CONFIG_PATH] = str(config)
        for name in (CONTAINER_IP, CONTAINER_MANAGEMENT_IP):  # they come before the copy's loopback addresses
            env.pop(name, None)
    if monitoring is not None:
        env[MONITOR_MODE] = "1" if monitoring else "0"
    if logs is Logs.PROBING:
        env.update(_PROBING)
    return env


def hides_blocks(version: str, captured: Mapping[str, str]) -> bool:
    """Whether neither an interface of this version nor a log at production's level tells the KV blocks.

    /v1/status has them from 2.3 on; an unknown version is taken for one that has.
    """
    known = parse_version(version)
    if known is None or known >= STATUS_SINCE:
        return False
    return not any(_TELLING.search(captured.get(name, "")) for name in _LEVELS)


def check_install(captured: Mapping[str, str], home: Path) -> None:
    """Raise Refused when the captured environment belongs to another install."""
    for name in (INSTALL_PATH, HOME_PATH):
        other = captured.get(name)
        if other is not None and Path(other).resolve() != home.resolve():
            raise Refused(
                f"the environment belongs to another install: {name}={other}, the profile says {home}",
                hint="capture the environment again, or set engine.home to that install",
            )
