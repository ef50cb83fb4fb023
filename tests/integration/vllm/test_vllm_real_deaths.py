"""Real vLLM on CPU, killed in each of its processes: no hang, the right class, and nothing left behind."""

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.settings import Settings

REAL = Path(os.environ.get("AUTOTUNE_VLLM", Path(__file__).parents[3] / ".venv-vllm"))
NOTICED_SECONDS = 15.0
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not (REAL / "bin" / "vllm").exists(), reason=f"no vLLM in {REAL}: make test-vllm"),
]


def named(server: int, name: str) -> int:
    processes = psutil.Process(server).children(recursive=True)
    return next(process.pid for process in processes if process.name().startswith(name))


def wait_for_death(service) -> LaunchFailed:
    deadline = time.monotonic() + NOTICED_SECONDS
    while time.monotonic() < deadline:
        try:
            service.check()
        except LaunchFailed as failure:
            return failure
        time.sleep(0.1)
    pytest.fail("nobody noticed")


@pytest.mark.parametrize("victim", ["API server", "VLLM::EngineCor", "VLLM::Worker"])
def test_a_killed_process_is_noticed_and_nothing_of_the_server_stays(make_real_vllm, victim):
    with make_real_vllm("--max-num-seqs=8").launch(Settings(max_batch_size=16)) as service:
        server = service.pid
        family = psutil.Process(server).children(recursive=True)
        os.kill(server if victim == "API server" else named(server, victim), signal.SIGKILL)
        assert wait_for_death(service).cause is LaunchCause.CRASHED
        began = time.monotonic()
    assert time.monotonic() - began < 25
    assert not [process for process in family if process.is_running() and process.status() != "zombie"]


@pytest.mark.parametrize(
    ("flags", "cause"),
    [
        (("--no-such-flag=3",), LaunchCause.CONFIG),
        (("--max-model-len=4096", "--num-gpu-blocks-override=20"), LaunchCause.MEMORY),
    ],
)
def test_a_start_that_vllm_refuses_has_its_class(make_real_vllm, flags, cause):
    engine = make_real_vllm("--max-num-seqs=8", *flags)
    with pytest.raises(LaunchFailed) as failure, engine.launch(engine.describe().incumbent):
        pytest.fail("it started")
    assert failure.value.cause is cause
    assert failure.value.lines
