"""The printed units, held against systemd's own check."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.campaign.nightly.scheduling import check_container, install, places_of
from autotune.campaign.nightly.units import Places, Units, container_units, units
from autotune.errors import Refused, UsageError
from autotune.profile.reading import read_profile

PROFILE = """\
name: night
engine: {{kind: mindie, home: {home}}}
host: {host}
nightly: {{window: "23:30-04:00", textfile: {home}/metrics/night.prom}}
store: {{state: {home}/state}}
"""
TUNED = "{governor: performance, transparent_hugepages: always, cpus: null}"
UNTUNED = "{governor: null, transparent_hugepages: null, cpus: null}"


@pytest.fixture
def analyze():
    tool = shutil.which("systemd-analyze")
    if tool is None:
        reason = "systemd is not installed (apt-get install systemd)"
        (pytest.fail if os.environ.get("AUTOTUNE_REQUIRE_SYSTEMD") else pytest.skip)(reason)
    return tool


def made(tmp_path: Path, host: str, *, container: bool = False) -> Units:
    path = tmp_path / "night.yaml"
    path.write_text(PROFILE.format(home=tmp_path, host=host))
    path.chmod(0o600)
    profile = read_profile(path, []).profile
    command = ("autotune",) if container else (sys.executable, "-m", "autotune")
    places = places_of(profile, path, command, Path("/root"))
    if not container:
        return units(profile, places)
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/true\n")
    docker.chmod(0o755)
    return container_units(profile, places, docker=str(docker), container="mindie")


@pytest.mark.parametrize(
    ("host", "container"),
    [(TUNED, False), (UNTUNED, False), (TUNED, True)],
    ids=["with host tuning", "without host tuning", "in a container"],
)
def test_systemd_finds_no_fault_in_any_unit(tmp_path, analyze, host, container):
    found = made(tmp_path, host, container=container)
    paths = []
    for ending, text in (("service", found.service), ("timer", found.timer)):
        path = tmp_path / f"{found.name}.{ending}"
        path.write_text(text)
        paths.append(str(path))
    done = subprocess.run([analyze, "verify", *paths], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if found.name in line]
    assert not ours, ours
    assert done.returncode == 0, done.stderr


def test_a_fault_would_be_found(tmp_path, analyze):
    found = made(tmp_path, TUNED)
    path = tmp_path / f"{found.name}.service"
    path.write_text(found.service.replace("KillMode=mixed", "KillMood=mixed"))
    done = subprocess.run([analyze, "verify", str(path)], capture_output=True, text=True, check=False)
    assert "KillMood" in done.stderr


def test_kernel_settings_are_writable_only_where_the_profile_changes_them(tmp_path):
    assert "ProtectKernelTunables=no" in made(tmp_path, TUNED).service
    assert "ProtectKernelTunables=yes" in made(tmp_path, UNTUNED).service


def test_the_timer_fires_when_the_window_opens_and_the_job_has_until_it_closes(tmp_path):
    found = made(tmp_path, TUNED)
    assert "OnCalendar=*-*-* 23:30:00" in found.timer
    assert "Persistent=true" in found.timer
    assert f"TimeoutStartSec={4 * 3600 + 1800 + 1200}" in found.service
    assert "SuccessExitStatus=3 75" in found.service


def test_what_the_job_writes_is_writable_under_strict_protection(tmp_path):
    line = next(each for each in made(tmp_path, TUNED).service.splitlines() if "ReadWritePaths" in each)
    for path in (tmp_path / "conf", tmp_path / "state", tmp_path / "metrics", "/run/lock", "/dev/shm"):
        assert f"-{path}" in line


def test_a_percent_sign_is_itself_in_units_and_escaped_in_a_crontab(tmp_path):
    made(tmp_path, TUNED)
    profile = read_profile(tmp_path / "night.yaml", []).profile
    places = Places(profile=Path("/etc/50%.yaml"), command=("autotune",), writable=())
    assert units(profile, places).crontab == r"30 23 * * * autotune nightly /etc/50\%.yaml"
    assert "/etc/50%%.yaml" in units(profile, places).service


def test_units_are_written_and_the_timer_enabled_or_it_is_refused(tmp_path, monkeypatch):
    found = made(tmp_path, TUNED)
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    systemctl.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    monkeypatch.setenv("PATH", environment["PATH"])
    target = tmp_path / "units"
    with pytest.raises(Refused, match="cannot be written"):
        install(found, environment, tmp_path, target)
    target.mkdir()
    install(found, environment, tmp_path, target)
    assert (target / f"{found.name}.timer").read_text() == found.timer
    assert (tmp_path / "asked").read_text().split("\n")[:2] == [
        "daemon-reload",
        f"enable --now {found.name}.timer",
    ]


def test_a_container_is_named_by_a_name():
    assert check_container("mindie-2.2_a") == "mindie-2.2_a"
    with pytest.raises(UsageError):
        check_container("--privileged")
