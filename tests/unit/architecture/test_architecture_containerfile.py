"""The Containerfile: every path that it names is made by the wheelhouse, and nothing comes from a network."""

import re

import pytest

from autotune.store.state import SYSTEM_DIRECTORY
from tests.airgap import collect
from tests.airgap.containerfile import CONTAINERFILE, Instruction, filled, read
from tests.airgap.target import ROOT, Target

WHEELS = "wheelhouse/cp311-aarch64"
STEPS = filled(read(), {"BASE": "registry/mindie:2.0", "WHEELS": WHEELS})
BUILD = next(step.text for step in STEPS if step.name == "RUN")


def test_the_base_has_no_default_and_must_be_named():
    assert STEPS[0] == Instruction(name="FROM", text="registry/mindie:2.0")
    with pytest.raises(KeyError):
        filled(read(), {"WHEELS": WHEELS})


def test_the_folder_of_the_example_is_the_one_that_the_wheelhouse_makes():
    said = CONTAINERFILE.read_text(encoding="utf-8")
    machine, python = re.findall(r"make wheelhouse PLATFORM=(\S+) PYTHON=(\S+)", said)[0]
    assert f"wheelhouse/{Target(machine=machine, python=python).folder}" == WHEELS
    assert f"WHEELS={WHEELS}" in said


def test_the_build_reads_only_what_the_wheelhouse_writes():
    assert [step.text for step in STEPS if step.name == "COPY"] == [f"{WHEELS} /tmp/wheels"]
    written = (ROOT / "tests" / "airgap" / "collect.py").read_text(encoding="utf-8")
    for name in ("SHA256SUMS", "requirements.txt"):
        assert name in BUILD
        assert f'"{name}"' in written
    assert "ascend_autotune-*.whl" in BUILD
    assert "ascend_autotune-*.whl" in collect.NOTE
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "!wheelhouse" in ignored


def test_no_package_comes_from_a_network_and_every_one_has_its_hash_checked():
    assert "--no-index" in BUILD
    installs = [part for part in BUILD.split(";") if part.strip().startswith("$pip")]
    assert ["--require-hashes" in part or "--no-deps" in part for part in installs] == [True, True]
    assert not re.search(r"\b(curl|wget|apt-get|yum|dnf|git)\b", BUILD)


def test_the_image_keeps_the_users_and_the_entry_of_its_base_and_a_volume_for_the_state():
    names = {step.name for step in STEPS}
    assert names == {"FROM", "COPY", "RUN", "VOLUME"}
    assert [step.text for step in STEPS if step.name == "VOLUME"] == [str(SYSTEM_DIRECTORY)]
