"""Target: a machine that wheels are collected for, and what of the lock it needs."""

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
_OLDEST, _NEWEST = 17, 34
"""glibc 2.17 to 2.34; openEuler 22.03 has 2.34, Ubuntu 22.04 has 2.35: the systems of MindIE's images."""
_LEGACY = ("manylinux2014",)


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """An architecture and a version of CPython on Linux."""

    machine: str
    """aarch64 or x86_64."""
    python: str
    """Like 3.11."""

    @property
    def folder(self) -> str:
        """The name of the folder that its wheels are collected in."""
        return f"cp{self.python.replace('.', '')}-{self.machine}"

    @property
    def options(self) -> tuple[str, ...]:
        """What pip needs to choose for the target; with one tag alone it falls back to absurd versions."""
        tags = [f"manylinux_2_{minor}_{self.machine}" for minor in range(_NEWEST, _OLDEST - 1, -1)]
        tags += [f"{tag}_{self.machine}" for tag in _LEGACY]
        abi = f"cp{self.python.replace('.', '')}"
        platforms = [word for tag in tags for word in ("--platform", tag)]
        abis = ["--abi", abi, "--abi", "abi3", "--abi", "none"]
        chosen = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", self.python]
        return (*chosen, *abis, *platforms)

    def requirements(self, lock: Path = LOCK) -> str:
        """The pins with hashes that the target needs: pip would read the markers as of the running Python."""
        environment = {
            "python_version": self.python,
            "python_full_version": f"{self.python}.0",
            "platform_machine": self.machine,
            "sys_platform": "linux",
            "platform_system": "Linux",
            "os_name": "posix",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "extra": "",
        }
        lines = [
            line
            for line in lock.read_text(encoding="utf-8").splitlines()
            if not line.lstrip().startswith("#")
        ]
        kept = []
        for entry in re.split(r"\n(?=\S)", "\n".join(lines).strip()):
            pin, *hashes = entry.replace("\\\n", "").split(" --hash=")
            requirement = Requirement(pin.strip())
            if requirement.marker is None or requirement.marker.evaluate(environment):
                bare = f"{requirement.name}{requirement.specifier}"
                kept.append(" ".join([bare, *(f"--hash={each.strip()}" for each in hashes)]))
        return "\n".join(kept) + "\n"
