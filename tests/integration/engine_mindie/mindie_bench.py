"""An emulated install with ports of its own, an engine on it, and the check that nothing is left behind."""

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest

from autotune.emulator.faults import Faults
from autotune.emulator.install import InstallOptions, make_install
from autotune.engines.mindie.engine import MindieEngine
from autotune.engines.mindie.options import ConfigMode, MindieOptions
from autotune.events import Event
from autotune.model.change import Change
from autotune.process.ports import choose_free

TIME_SCALE = 40.0


@dataclass
class Journal:
    """A journal that remembers everything, and what is still open."""

    recorded: list[Change] = field(default_factory=list)
    open: list[Change] = field(default_factory=list)

    def record(self, change: Change) -> None:
        self.recorded.append(change)
        self.open.append(change)

    def settle(self, change: Change) -> None:
        self.open.remove(change)


@dataclass(frozen=True)
class FileFacts:
    """What must be the same afterwards."""

    sha256: str
    mode: int
    uid: int
    gid: int


@dataclass
class Bench:
    """One install and what the engine on it reported."""

    install: Path
    work_dir: Path
    environment: dict[str, str]
    journal: Journal = field(default_factory=Journal)
    events: list[Event] = field(default_factory=list)

    @property
    def config(self) -> Path:
        return self.install / "conf" / "config.json"

    def facts(self) -> FileFacts:
        status = self.config.stat()
        sha256 = hashlib.sha256(self.config.read_bytes()).hexdigest()
        return FileFacts(sha256=sha256, mode=status.st_mode, uid=status.st_uid, gid=status.st_gid)

    def engine(self, **changes) -> MindieEngine:
        options = MindieOptions(
            home=self.install,
            work_dir=self.work_dir,
            journal=self.journal,
            environment=self.environment,
            config_mode=ConfigMode.IN_PLACE,
            start_timeout=30.0,
            listener=self.events.append,
        )
        return MindieEngine(replace(options, **changes))


def processes_of(install: Path) -> list[psutil.Process]:
    """Every process on the host that runs from this install or has it in its environment."""
    found = []
    for process in psutil.process_iter():
        try:
            text = " ".join([*process.cmdline(), *process.environ().values()])
        except psutil.Error:
            continue
        if str(install) in text and process.pid != os.getpid():
            found.append(process)
    return found


@pytest.fixture
def make_bench(tmp_path) -> Callable[..., Bench]:
    made: list[Bench] = []

    def make(*, faults: Faults | None = None, **options) -> Bench:
        business, management, metrics = choose_free(3)
        settings = InstallOptions(
            time_scale=TIME_SCALE,
            port=business,
            management_port=management,
            metrics_port=metrics,
            start_seconds=8.0,
            faults=faults or Faults(),
        )
        install = make_install(tmp_path / f"mindie-{len(made)}", replace(settings, **options))
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "MINDIE_LOG_LEVEL": "ERROR",
            "MINDIE_LOG_TO_STDOUT": "0",
            "MINDIE_LOG_TO_FILE": "1",
            "http_proxy": "http://127.0.0.1:9",
        }
        bench = Bench(install=install, work_dir=tmp_path / f"work-{len(made)}", environment=environment)
        made.append(bench)
        return bench

    shared = {path.name for path in Path("/dev/shm").iterdir()}
    yield make
    deadline = time.monotonic() + 2
    while (left := [p for b in made for p in processes_of(b.install)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    for process in left:
        process.kill()
    assert not left, f"left behind: {left}"
    mine = {name for name in {path.name for path in Path("/dev/shm").iterdir()} - shared if _of(made, name)}
    assert not mine, f"left in /dev/shm: {mine}"
    for bench in made:
        assert bench.journal.open == []


def _of(benches: list[Bench], name: str) -> bool:
    marks = {hashlib.sha256(str(bench.install).encode()).hexdigest()[:8] for bench in benches}
    return any(mark in name for mark in marks)


@pytest.fixture
def bench(make_bench) -> Bench:
    return make_bench()
