"""Real vLLM on CPU, each of its processes killed, and the tuner: no hang, the right class, nothing left."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from autotune.errors import LaunchCause, LaunchFailed
from autotune.events import LevelProgress
from autotune.load.own_source import OwnSource
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.workload import Sampling, Workload
from autotune.model.measurement import Invalid, InvalidReason
from autotune.model.protocols import LevelRequest
from autotune.model.settings import Settings
from autotune.process.clock import SystemClock

ROOT = Path(__file__).parents[3]
NOTICED_SECONDS = 30.0
"""vLLM itself needs 5 s to notice a dead worker (measured)."""
ENDED_SECONDS = 45.0
"""SIGTERM, 30 s of grace, which a server that still starts may use up, SIGKILL."""
SERVER, ENGINE, WORKER = "API server", "VLLM::EngineCor", "VLLM::Worker"
SIXTEEN = Settings(max_batch_size=16)
pytestmark = [pytest.mark.slow, pytest.mark.real_vllm, pytest.mark.timeout(600)]


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    alive = []
    for process in processes:
        with suppress(psutil.Error):  # it may end while it is looked at
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                alive.append(process)
    return alive


def family() -> list[psutil.Process]:
    """The server and all that descends from it: nothing else is started by this process.

    Orphans of an earlier test come back to this process and stay as zombies of the same names.
    """
    return living(psutil.Process().children(recursive=True))


def victim_of(processes: list[psutil.Process], name: str) -> psutil.Process | None:
    for process in processes:
        with suppress(psutil.Error):  # it may end while it is looked at
            if "serve" in process.cmdline()[:4] if name == SERVER else process.name().startswith(name):
                return process
    return None


class KillsWhileItStarts:
    """A clock whose sleep kills the victim once; before it the engine, so that it can become an orphan."""

    def __init__(self, victim: str) -> None:
        self._clock, self._victim = SystemClock(), victim
        self.killed_at: float | None = None
        self.family: list[psutil.Process] = []

    def now(self) -> float:
        return self._clock.now()

    def wall(self) -> float:
        return self._clock.wall()

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)
        found = family() if self.killed_at is None else []
        victim = victim_of(found, self._victim)
        if victim is not None and victim_of(found, ENGINE) is not None:
            self.family = found
            victim.send_signal(signal.SIGKILL)
            self.killed_at = self.now()


@pytest.mark.parametrize("name", [SERVER, ENGINE, WORKER])
def test_a_process_killed_while_the_server_starts_ends_the_start(make_real_vllm, name):
    clock = KillsWhileItStarts(name)
    engine = make_real_vllm("--max-num-seqs=8", clock=clock)
    with pytest.raises(LaunchFailed) as failure, engine.launch(SIXTEEN):
        pytest.fail("it started")
    assert clock.now() - clock.killed_at < NOTICED_SECONDS + ENDED_SECONDS
    assert failure.value.cause is LaunchCause.CRASHED
    assert failure.value.lines
    assert not living(clock.family)


def load() -> OwnSource:
    prompts = tuple(Prompt(text=f"say {number}") for number in range(64))
    workload = Workload(prompts=prompts, max_output_tokens=192, sampling=Sampling(ignore_eos=True))
    return OwnSource(workload, "openai")


@pytest.mark.parametrize("name", [SERVER, ENGINE, WORKER])
def test_a_process_killed_under_load_ends_the_level_and_the_launch(make_real_vllm, name):
    source, killed_at = load(), []
    with make_real_vllm("--max-num-seqs=8").launch(SIXTEEN) as service:
        processes = family()
        source.warm_up(service)

        def kill(event: object) -> None:
            if isinstance(event, LevelProgress) and event.seconds >= 2 and not killed_at:
                victim_of(processes, name).send_signal(signal.SIGKILL)
                killed_at.append(time.monotonic())

        request = LevelRequest(concurrency=32, half_width=0.01, cap_seconds=120.0)
        level = source.measure(service, request, kill)
        assert time.monotonic() - killed_at[0] < NOTICED_SECONDS
        assert isinstance(level, Invalid)
        assert level.reason is InvalidReason.SERVICE_DIED
        assert wait_for_death(service).cause is LaunchCause.CRASHED
        began = time.monotonic()
    source.close()
    assert time.monotonic() - began < ENDED_SECONDS
    assert not living(processes)


def wait_for_death(service) -> LaunchFailed:
    deadline = time.monotonic() + NOTICED_SECONDS
    while time.monotonic() < deadline:
        try:
            service.check()
        except LaunchFailed as failure:
            return failure
        time.sleep(0.1)
    pytest.fail("nobody noticed")


@pytest.mark.parametrize("moment", ["while it starts", "under load"])
def test_what_a_killed_tuner_leaves_of_real_vllm_is_ended_by_recover(tmp_path, moment):
    state = tmp_path / "state"
    command = [sys.executable, "-m", "autotune"]
    profile = [str(ROOT / "profiles" / "vllm-cpu-tiny.yaml"), "--set", f"store.state={state}"]
    home = Path(os.environ["AUTOTUNE_VLLM"])
    values = ["--set", f"engine.home={home}", "--set", f"model.path={home / 'tiny-qwen2'}"]
    with (tmp_path / "tuner.log").open("wb") as log:
        tuner = subprocess.Popen([*command, "tune", *profile, *values, "--yes"], stderr=log, stdout=log)
    try:
        wait_until(lambda: is_there(state, tuner.pid, moment), seconds=240)
        left = psutil.Process(tuner.pid).children(recursive=True)
        assert victim_of(left, ENGINE) is not None
    finally:
        tuner.kill()
        tuner.wait()
    assert living(left), "nothing outlived the tuner, so this test shows nothing"
    began = time.monotonic()
    done = subprocess.run(
        [*command, "recover", "--state", str(state)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < ENDED_SECONDS
    assert not living(left)


def is_there(state: Path, tuner: int, moment: str) -> bool:
    if moment == "while it starts":
        return victim_of(psutil.Process(tuner).children(recursive=True), ENGINE) is not None
    logs = (path.read_text(errors="replace") for path in state.glob("runs/*/launch-*/output.log"))
    return any(re.search(r"Running: [1-9]", text) for text in logs)


def wait_until(condition, *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.2)


@pytest.mark.parametrize(
    ("flags", "cause"),
    [
        (("--no-such-flag=3",), LaunchCause.CONFIG),
        (("--max-model-len=4096", "--num-gpu-blocks-override=20"), LaunchCause.MEMORY),
    ],
    ids=["unknown flag", "cache too small"],
)
def test_a_start_that_vllm_refuses_has_its_class(make_real_vllm, flags, cause):
    engine = make_real_vllm("--max-num-seqs=8", *flags)
    with pytest.raises(LaunchFailed) as failure, engine.launch(engine.describe().incumbent):
        pytest.fail("it started")
    assert failure.value.cause is cause
    assert failure.value.lines
