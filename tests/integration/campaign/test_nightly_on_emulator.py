"""Nights on the emulated daemon in real time, with production that is stopped for them and serves again."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.campaign.test_live_service import Production

pytestmark = pytest.mark.slow

FOUR_LAUNCHES = """
import sys
from autotune.campaign.nightly import night
from autotune.cli.main import run

night.MOST_LAUNCHES = 4
sys.exit(run(sys.argv[1:]))
"""
"""A busy machine makes the stand-in restless; the wider search that it may ask for is not the point here."""
QUICK = """
import sys
from dataclasses import replace
from autotune.campaign.nightly import night
from autotune.cli.main import run
from autotune.model.launch import Purpose
from autotune.model.move import Finish, Launch, VerdictCode

class Quick(night.NightStrategy):
    def next_move(self, history):
        level = self._level(history)
        if level is not None:
            return level
        better = self._space.settings_for(14)
        if not history.launches:
            return Launch(settings=self._incumbent, purpose=Purpose.INCUMBENT)
        if len(history.launches) == 1:
            return Launch(settings=better, purpose=Purpose.CONFIRMATION)
        return Finish(settings=better, code=VerdictCode.IMPROVED, reason="quick")

night.NightStrategy = Quick
sys.exit(run(sys.argv[1:]))
"""
ONLY_TWELVE = """
import json, sys
with open(CONFIG) as config:
    if json.load(config)["BackendConfig"]["ScheduleConfig"]["maxBatchSize"] != 12:
        sys.exit(3)
"""


class Night(Production):
    """Production with hooks that write down when traffic went and came, and a textfile."""

    def __init__(self, job) -> None:
        super().__init__(job)
        self.hooks = job.directory / "hooks"
        self.metrics = job.directory / "night.prom"

    def in_profile(self, *, apply: bool) -> None:
        self.named_in_profile()
        hook = [
            sys.executable,
            "-c",
            "import sys; open(sys.argv[1], 'a').write(sys.argv[2])",
            str(self.hooks),
        ]
        hooks = json.dumps({"before": [*hook, "b"], "after": [*hook, "a"]})[1:-1]
        text = self.job.profile.read_text().replace('{"stop":', f'{{{hooks}, "stop":')
        nightly = {"window": None, "apply": apply, "textfile": str(self.metrics)}
        self.job.profile.write_text(f"{text}nightly: {json.dumps(nightly)}\n")

    def night(self, program: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, program, "nightly", str(self.job.profile)],
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )

    def metric(self, name: str) -> str:
        lines = self.metrics.read_text().splitlines()
        return next(line.rsplit(" ", 1)[1] for line in lines if line.startswith(f"autotune_nightly_{name}"))


@pytest.fixture
def production(make_job):
    live = Night(make_job(max_batch_size=12))
    live.begin()
    yield live
    if Path(f"/proc/{live.pid_file.read_text()}").exists():
        subprocess.run(live.stop, check=False)


def test_a_night_measures_tells_and_leaves_everything_as_it_was(production):
    program = production.job.directory / "four.py"
    program.write_text(FOUR_LAUNCHES)
    production.in_profile(apply=False)
    before = production.job.fingerprint()
    done = production.night(str(program))
    assert done.returncode == 0, done.stderr
    assert "holds" in done.stdout
    assert "(emulated)" in done.stdout
    assert production.hooks.read_text() == "ba"
    assert production.answers()
    production.job.nothing_else_left(before)
    assert production.metric("restored") == "1"
    assert production.metric("exit_code") == str(done.returncode)
    _lock_is_free(production.job.state / "lock")


def test_a_winner_is_served_after_the_night_and_one_that_does_not_start_is_not(production):
    program = production.job.directory / "quick.py"
    program.write_text(QUICK)
    start = Path(production.start[1])
    refusing = ONLY_TWELVE.replace("CONFIG", repr(str(production.job.config)))
    plain = start.read_text()
    production.in_profile(apply=True)
    before = production.job.fingerprint()
    start.write_text(refusing + plain)
    failed = production.night(str(program))
    assert failed.returncode == 1, failed.stderr
    assert "the old one is served again" in failed.stdout
    assert production.answers()
    production.job.nothing_else_left(before)
    start.write_text(plain)
    done = production.night(str(program))
    assert done.returncode == 0, done.stderr
    assert "improved and applied" in done.stdout
    assert production.answers()
    config = json.loads(production.job.config.read_text())
    assert config["BackendConfig"]["ScheduleConfig"]["maxBatchSize"] == 14
    assert production.hooks.read_text() == "baba"
    assert not (production.job.state / "journal.json").exists()


def _lock_is_free(path: Path) -> None:
    """The daemon that was started while the lock was held does not hold it."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)
