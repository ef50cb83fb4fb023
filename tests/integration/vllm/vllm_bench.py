"""A stand-in vLLM installed into a directory, an engine on it, and the check that nothing is left behind."""

import json
import os
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest

from autotune.engines.vllm.engine import VllmEngine
from autotune.engines.vllm.options import VllmOptions
from autotune.events import Event
from autotune.model.change import Change

FAKE = Path(__file__).with_name("fake_vllm.py")
REAL = Path(os.environ.get("AUTOTUNE_VLLM", Path(__file__).parents[3] / ".venv-vllm"))
"""Where setup.sh has put real vLLM; tests marked real_vllm use it, and run where AUTOTUNE_VLLM names it."""
REAL_FLAGS = (
    "--served-model-name", "tiny", "--max-model-len", "512", "--block-size", "32",
    "--num-gpu-blocks-override", "257", "--enforce-eager", "--no-enable-prefix-caching",
    "--disable-uvicorn-access-log", "--dtype", "float32",
)  # fmt: skip


@dataclass
class Journal:
    """A journal that remembers what is still open."""

    recorded: list[Change] = field(default_factory=list)
    open: list[Change] = field(default_factory=list)

    def record(self, change: Change) -> None:
        self.recorded.append(change)
        self.open.append(change)

    def settle(self, change: Change) -> None:
        self.open.remove(change)


@dataclass
class VllmBench:
    """One stand-in and what the engine on it reported."""

    root: Path
    environment: dict[str, str]
    journal: Journal = field(default_factory=Journal)
    events: list[Event] = field(default_factory=list)

    @property
    def model(self) -> Path:
        return self.root / "model"

    @property
    def vllm(self) -> Path:
        return self.root / "bin" / "vllm"

    @property
    def work_dir(self) -> Path:
        return self.root / "work"

    def command(self, *more: str) -> tuple[str, ...]:
        return (str(self.vllm), "serve", str(self.model), "--served-model-name", "tiny", *more)

    def script(self, text: str) -> Path:
        path = self.root / "run_vllm.sh"
        path.write_text(textwrap.dedent(text), newline="")
        return path

    def engine(self, *more: str, faults: dict | None = None, **changes) -> VllmEngine:
        options = VllmOptions(
            work_dir=self.work_dir,
            journal=self.journal,
            environment=self.environment | {"FAKE_VLLM": json.dumps(faults or {})},
            command=() if "script" in changes else self.command(*more),
            start_timeout=20.0,
            grace=3.0,
            listener=self.events.append,
        )
        return VllmEngine(replace(options, **changes))

    def processes(self) -> list[psutil.Process]:
        """Every process of the host that runs from this directory, or has it in its environment."""
        found = []
        for process in psutil.process_iter():
            try:
                text = " ".join([*process.cmdline(), *process.environ().values()])
            except psutil.Error:
                continue
            if str(self.root) in text and process.pid != os.getpid():
                found.append(process)
        return found


def install(root: Path) -> None:
    """Write bin/vllm, and a package `vllm` for `python -m`."""
    (root / "model").mkdir(parents=True)
    (root / "bin").mkdir()
    vllm = root / "bin" / "vllm"
    vllm.write_text(f"#!{sys.executable}\n{FAKE.read_text()}")
    vllm.chmod(0o755)
    run = f"import runpy\nrunpy.run_path({str(FAKE)!r}, run_name='__main__')\n"
    defaults = """
        class EngineArgs:
            @classmethod
            def get_batch_defaults(cls, world_size):
                return {}, {"openai": 128 * world_size}
        """
    files = {
        "vllm/__init__.py": "",
        "vllm/entrypoints/__init__.py": "",
        "vllm/entrypoints/api_server.py": run,
        "vllm/entrypoints/openai/__init__.py": "",
        "vllm/entrypoints/openai/api_server.py": run,
        "vllm/engine/__init__.py": "",
        "vllm/engine/arg_utils.py": textwrap.dedent(defaults),
        "vllm/usage/__init__.py": "",
        "vllm/usage/usage_lib.py": "class UsageContext:\n    OPENAI_API_SERVER = 'openai'\n",
    }
    for name, text in files.items():
        path = root / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def make_vllm(tmp_path) -> Callable[[], VllmBench]:
    made: list[VllmBench] = []

    def make() -> VllmBench:
        root = tmp_path / f"vllm-{len(made)}"
        install(root)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(root / "site"),
            "http_proxy": "http://127.0.0.1:9",
        }
        made.append(VllmBench(root=root, environment=environment))
        return made[-1]

    yield make
    deadline = time.monotonic() + 2
    while (left := [p for bench in made for p in bench.processes()]) and time.monotonic() < deadline:
        time.sleep(0.02)
    for process in left:
        process.kill()
    assert not left, f"left behind: {left}"
    for bench in made:
        assert bench.journal.open == []


@pytest.fixture
def vllm(make_vllm) -> VllmBench:
    return make_vllm()


@pytest.fixture(scope="class")
def make_real_vllm(tmp_path_factory) -> Callable[..., VllmEngine]:
    """Engines on real vLLM with the tiny model of setup.sh."""
    journal, root = Journal(), tmp_path_factory.mktemp("real-vllm")
    variables = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}

    def make(*more: str, **changes) -> VllmEngine:
        options = VllmOptions(
            work_dir=root / "work",
            journal=journal,
            environment={"PATH": os.environ["PATH"], "HOME": str(root), **variables},
            command=(str(REAL / "bin" / "vllm"), "serve", str(REAL / "tiny-qwen2"), *REAL_FLAGS, *more),
            start_timeout=300.0,
        )
        return VllmEngine(replace(options, **changes))

    yield make
    assert journal.open == []
