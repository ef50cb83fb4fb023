"""Ascend versions: CANN, NPU driver and firmware, as their own files on the host tell them."""

import re
from collections.abc import Mapping
from pathlib import Path

from autotune.model.service import Fact

CANN, DRIVER, FIRMWARE = "CANN", "NPU driver", "NPU firmware"
_TOOLKIT = Path("usr/local/Ascend/ascend-toolkit/latest")
_DRIVER = Path("usr/local/Ascend/driver/version.info")
_FIRMWARE = Path("usr/local/Ascend/firmware/version.info")
_CANN_FILES = ("version.cfg", "compiler/version.info", "version.info")
_VERSION = re.compile(r"version\s*=\s*\[?([^\s:\]]+)", re.IGNORECASE)


def ascend_versions(environment: Mapping[str, str], root: Path = Path("/")) -> tuple[Fact, ...]:
    """What is installed; a part whose file is not there gives no fact.

    `environment` is the service's: ASCEND_TOOLKIT_HOME says which CANN it uses.
    """
    toolkit = environment.get("ASCEND_TOOLKIT_HOME") or str(root / _TOOLKIT)
    places = (
        (CANN, tuple(Path(toolkit) / name for name in _CANN_FILES)),
        (DRIVER, (root / _DRIVER,)),
        (FIRMWARE, (root / _FIRMWARE,)),
    )
    found = ((name, _first(paths)) for name, paths in places)
    return tuple(Fact(name=name, value=value) for name, value in found if value is not None)


def _first(paths: tuple[Path, ...]) -> str | None:
    """The version in the first file that is there: `Version=24.1.rc2`, or `x=[7.5.0.1:8.0.RC3]`."""
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        match = _VERSION.search(text)
        return match[1] if match else text.strip()[:60]
    return None
