"""A streaming server in a process of its own, and load tests against it."""

import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from autotune.load.client.address import read_address
from autotune.load.client.families import api_of
from autotune.load.client.plan import Patience, Target
from autotune.load.ends import ForRequests
from autotune.load.load_test import LoadTest
from autotune.load.workload.lengths import Fixed, Uniform
from autotune.load.workload.synthetic import SyntheticSpec, synthetic_prompts
from autotune.load.workload.workload import Sampling, Workload

SERVER = Path(__file__).parents[2] / "bench" / "load" / "mock_server.py"


@dataclass(frozen=True)
class Mock:
    """A running server."""

    port: int
    process: subprocess.Popen
    host: str = "127.0.0.1"

    def truth(self) -> dict:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=10)
        connection.request("GET", "/truth")
        document = json.loads(connection.getresponse().read())
        connection.close()
        return document

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def running_mock(*options: str, host: str = "127.0.0.1") -> Iterator[Mock]:
    argv = [sys.executable, str(SERVER), "--host", host, *options]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Mock(port=int(process.stdout.readline()), process=process, host=host)
        finally:
            process.kill()


@pytest.fixture
def mock() -> Callable:
    """To be used in a with statement; takes the options of the server's command line."""
    return running_mock


def workload(
    *, output: int = 20, low: int | None = None, ignore_eos: bool = False, ids: bool = False
) -> Workload:
    lengths = Fixed(tokens=output) if low is None else Uniform(low=low, high=output)
    spec = SyntheticSpec(input_tokens=Fixed(tokens=40), output_tokens=lengths, count=200)
    return Workload(
        prompts=synthetic_prompts(spec, token_ids=ids),
        max_output_tokens=4096,
        sampling=Sampling(ignore_eos=ignore_eos),
    )


def load_test(server: Mock, api: str = "openai", **changes) -> LoadTest:
    target = changes.pop("target", None) or Target(
        address=read_address(f"http://127.0.0.1:{server.port}"),
        api=api_of(api),
        model="m",
        streaming=changes.pop("streaming", api != "triton-tokens"),
    )
    values = {
        "target": target,
        "workload": workload(ids=api == "triton-tokens"),
        "concurrency": 8,
        "end": ForRequests(count=40),
        "patience": Patience(connect=5.0, first_token=5.0, stall=2.0, total=30.0),
        **changes,
    }
    return LoadTest(**values)


@pytest.fixture
def make_test() -> Callable:
    return load_test


@pytest.fixture
def make_workload() -> Callable:
    return workload
