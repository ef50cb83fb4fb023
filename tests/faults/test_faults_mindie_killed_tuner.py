"""kill -9 of the tuner at every step of its journal: `recover` puts the file back and ends the daemon."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autotune.campaign.recover import recover
from autotune.store.journal import unfinished
from autotune.store.state import StateDirectory

pytestmark = pytest.mark.slow

TUNER = """
import os, signal, sys
from pathlib import Path
from autotune.engines.mindie.engine import MindieEngine
from autotune.engines.mindie.options import ConfigMode, MindieOptions
from autotune.model.settings import Settings
from autotune.process.identity import boot_id
from autotune.store.journal import FileJournal, Unfinished

install, work, state, mode, step, after = sys.argv[1:]
steps = 0

class Deadly(FileJournal):
    def _count(self, moment):
        global steps
        steps += 1
        if f"{steps}-{moment}" == f"{step}-{after}":
            os.kill(os.getpid(), signal.SIGKILL)

    def record(self, change):
        self._count("before")
        super().record(change)
        self._again("after")

    def settle(self, change):
        self._count("before")
        super().settle(change)
        self._again("after")

    def _again(self, moment):
        global steps
        steps -= 1
        self._count(moment)

header = Unfinished(run="r", pid=os.getpid(), boot_id=boot_id(), started_wall=0.0)
options = MindieOptions(
    home=Path(install), work_dir=Path(work), journal=Deadly(Path(state) / "journal.json", header),
    environment=dict(os.environ), config_mode=ConfigMode(mode), start_timeout=30.0,
)
with MindieEngine(options).launch(Settings(max_batch_size=300, max_prefill_batch_size=150)):
    print("running", flush=True)
    if step == "running":
        os.kill(os.getpid(), signal.SIGKILL)
    if step == "wait":
        sys.stdin.read()
print("ended", flush=True)
"""


def tuner(bench, state: StateDirectory, mode: str, step: str, moment: str) -> "subprocess.Popen[str]":
    arguments = [str(bench.install), str(bench.work_dir), str(state.root), mode, step, moment]
    return subprocess.Popen(
        [sys.executable, "-c", TUNER, *arguments],
        env=bench.environment,
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def state(tmp_path) -> StateDirectory:
    (tmp_path / "state").mkdir(mode=0o700)
    return StateDirectory(root=tmp_path / "state")


def recovered(bench, state: StateDirectory, before) -> tuple[str, ...]:
    lines = recover(state)
    assert bench.facts() == before
    assert unfinished(state.journal) is None
    return lines


IN_PLACE = [(str(step), moment) for step in range(1, 5) for moment in ("before", "after")]
PRIVATE = [(str(step), moment) for step in range(1, 3) for moment in ("before", "after")]


@pytest.mark.parametrize(
    ("mode", "step", "moment"),
    [
        *(("in-place", step, moment) for step, moment in IN_PLACE),
        *(("private", step, moment) for step, moment in PRIVATE),
        ("in-place", "running", ""),
        ("private", "running", ""),
    ],
)
def test_whatever_step_it_dies_at_everything_is_put_back(bench, state, mode, step, moment):
    before = bench.facts()
    with tuner(bench, state, mode, step, moment) as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    recovered(bench, state, before)
    assert recover(state) == ("nothing to recover",)


def test_a_run_that_is_not_killed_needs_no_recovery(bench, state):
    with tuner(bench, state, "in-place", "never", "") as process:
        output, _ = process.communicate(timeout=60)
    assert output.split() == ["running", "ended"]
    assert recover(state) == ("nothing to recover",)


@pytest.mark.parametrize("seconds", [0.05, 0.3, 0.6, 1.0])
def test_at_any_moment_everything_is_put_back(make_bench, state, seconds):
    bench = make_bench(start_seconds=20.0)
    before = bench.facts()
    with tuner(bench, state, "in-place", "wait", "") as process:
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
    recovered(bench, state, before)
