"""Every dependency is pinned to one version with its hashes, and make installs with nothing else."""

import re
from pathlib import Path

import pytest

from tests.airgap.target import Target

ROOT = Path(__file__).parents[3]
LOCKS = sorted(ROOT.glob("requirements*.lock"))
PIN = re.compile(r"^[A-Za-z0-9._-]+(?:\[[a-z,]+\])?==[^\s;]+", re.MULTILINE)


def entries(text: str) -> list[str]:
    """The pins with their continued lines, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return [entry for entry in re.split(r"\n(?=\S)", "\n".join(lines)) if entry.strip()]


def test_the_locks_are_there():
    names = {path.name for path in LOCKS}
    assert {"requirements.lock", "requirements-dev.lock", "requirements-fuzz.lock"} <= names


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_entry_of_a_lock_is_one_version_with_hashes(path):
    found = entries(path.read_text(encoding="utf-8"))
    assert found
    for entry in found:
        assert PIN.match(entry), entry
        assert "--hash=sha256:" in entry, entry
        assert "://" not in entry, entry


def test_the_development_lock_has_the_same_versions_as_the_run_time_lock():
    run_time, development = (
        {pin.partition("==")[0]: pin for pin in PIN.findall((ROOT / name).read_text(encoding="utf-8"))}
        for name in ("requirements.lock", "requirements-dev.lock")
    )
    assert set(run_time) <= set(development)


def test_make_installs_locked_files_with_their_hashes_checked():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes --only-binary :all:" in makefile
    for lock in re.findall(r"-r (\S*\.lock)", makefile):
        line = next(line for line in makefile.splitlines() if f"-r {lock}" in line)
        assert "$(INSTALL)" in line or "--require-hashes" in line or "uv pip compile" in line, line


@pytest.mark.parametrize(("python", "pandas"), [("3.10", "2."), ("3.11", "3."), ("3.13", "3.")])
def test_a_wheelhouse_takes_what_its_own_python_needs_and_not_what_the_running_one_does(python, pandas):
    pins = Target(machine="aarch64", python=python).requirements().splitlines()
    versions = dict(pin.partition(" ")[0].split("==") for pin in pins)
    assert versions["pandas"].startswith(pandas)
    assert ("tomli" in versions) == (python == "3.10")
    assert all("--hash=sha256:" in pin for pin in pins)


def test_a_wheelhouse_names_every_tag_that_its_host_can_load():
    options = Target(machine="aarch64", python="3.11").options
    assert {"manylinux2014_aarch64", "manylinux_2_17_aarch64", "manylinux_2_28_aarch64"} <= set(options)
    assert not any("x86_64" in option for option in options)
