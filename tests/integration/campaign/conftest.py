"""An emulated install on free ports, a profile for it, and the command line as a process."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from autotune.emulator.install import InstallOptions, make_install
from autotune.process.ports import choose_free

TIME_SCALE = 30.0
PROFILE = """\
name: main-job
engine: {{home: {install}, config_mode: {mode}, start_timeout: 60s}}
workload:
  dataset: {{type: synthetic, input_tokens: 64, output_tokens: {{mean: 48, max: 96}}}}
  max_output_tokens: 96
  concurrency: 24
search: {{strategy: guide, step: 8, max_launches: 7}}
measuring: {{final_half_width: 10%, level_cap: 60s}}
host: {{governor: null, transparent_hugepages: null, cpus: null}}
store: {{state: {state}}}
report: {{directory: {reports}}}
"""


@dataclass
class Job:
    """One install, one profile, one state directory."""

    directory: Path
    install: Path
    profile: Path
    state: Path
    reports: Path
    started: list[subprocess.Popen] = field(default_factory=list)
    driver: tuple[str, ...] = ("-m", "autotune")
    """Or one that gives it another /sys."""

    @property
    def config(self) -> Path:
        return self.install / "conf" / "config.json"

    def fingerprint(self) -> tuple[str, int, int, int]:
        facts = self.config.lstat()
        digest = hashlib.sha256(self.config.read_bytes()).hexdigest()
        return digest, facts.st_mode, facts.st_uid, facts.st_gid

    def run(self, *arguments: str, timeout: float = 110.0, umask: int = -1) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, *self.driver, *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            umask=umask,
        )

    def tune(self, *options: str, timeout: float = 110.0, umask: int = -1) -> subprocess.CompletedProcess:
        return self.run("tune", str(self.profile), "--yes", *options, timeout=timeout, umask=umask)

    def begin(self, *options: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-m", "autotune", "tune", str(self.profile), "--yes", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def daemons(self) -> list[psutil.Process]:
        """Processes that run a program of this install."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            command = process.info["cmdline"] or []
            if any(str(self.install) in word for word in command) and "autotune" not in command:
                found.append(process)
        return found

    def wait_for(self, ready: Callable[[], bool], seconds: float = 100.0) -> None:
        deadline = time.monotonic() + seconds
        while not ready():
            assert time.monotonic() < deadline, "it did not come so far"
            time.sleep(0.05)

    def nothing_else_left(self, fingerprint: tuple[str, int, int, int]) -> None:
        """As `nothing_left`, beside a service that runs on."""
        assert self.fingerprint() == fingerprint
        assert not (self.state / "journal.json").exists()

    def nothing_left(self, fingerprint: tuple[str, int, int, int]) -> None:
        assert self.fingerprint() == fingerprint
        assert not self.daemons()
        assert not (self.state / "journal.json").exists()


def _make(directory: Path, *, mode: str = "in-place", **options: object) -> Job:
    port, management, metrics = choose_free(3)
    values: dict[str, object] = {"blocks": 24, "max_batch_size": 12, "noise": 0.01, "start_seconds": 10.0}
    install = make_install(
        directory / "install",
        InstallOptions(
            time_scale=TIME_SCALE,
            port=port,
            management_port=management,
            metrics_port=metrics,
            **(values | options),
        ),
    )
    profile, state, reports = directory / "profile.yaml", directory / "state", directory / "made" / "reports"
    profile.write_text(PROFILE.format(install=install, mode=mode, state=state, reports=reports))
    profile.chmod(0o600)
    return Job(directory=directory, install=install, profile=profile, state=state, reports=reports)


def _end(job: Job) -> None:
    for process in job.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
    for daemon in job.daemons():
        os.kill(daemon.pid, signal.SIGKILL)


@pytest.fixture
def make_job(tmp_path: Path) -> Iterator[Callable[..., Job]]:
    jobs: list[Job] = []

    def make(**options: object) -> Job:
        jobs.append(_make(tmp_path, **options))
        return jobs[-1]

    yield make
    for job in jobs:
        _end(job)


@dataclass(frozen=True)
class Tuned:
    """A job that ran to its end under umask 0, and what was there before and after."""

    job: Job
    before: tuple[str, int, int, int]
    after: tuple[str, int, int, int]
    text: str
    """config.json before the run."""
    done: subprocess.CompletedProcess
    modes: dict[str, int]
    """Permissions of everything that the run has left, by path."""


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tuned]:
    """One whole campaign in place, for all tests that only look at what it left; one worker makes it."""
    job = _make(tmp_path_factory.mktemp("tuned"))
    before, text = job.fingerprint(), job.config.read_text()
    done = job.tune("--output", str(job.reports), timeout=220, umask=0)
    left = [path for place in (job.state, job.reports.parent) for path in [place, *place.rglob("*")]]
    modes = {str(path.relative_to(job.directory)): path.lstat().st_mode for path in left}
    yield Tuned(job=job, before=before, after=job.fingerprint(), text=text, done=done, modes=modes)
    _end(job)
