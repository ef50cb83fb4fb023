"""kill -9 of the tuner at every write of its journal: `recover` puts file, host and production back."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autotune.campaign.recover import recover
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.readiness import has_text
from autotune.process.identity import read_stat
from autotune.store.journal import unfinished
from autotune.store.state import StateDirectory

pytestmark = pytest.mark.slow

SERVE = """
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.dumps({"generated_text": ["x"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
port, pid_file = int(sys.argv[1]), sys.argv[2]
if os.fork():
    os._exit(0)
server = http.server.HTTPServer(("127.0.0.1", port), Handler)
with open(pid_file, "a") as file:
    file.write(f"{os.getpid()}\\n")
server.serve_forever()
"""
STOP = "import os, signal, sys; os.kill(int(open(sys.argv[1]).read().split()[-1]), signal.SIGKILL)"


class Case:
    """An install, a fake /sys, and a small stand-in of production on the install's own port."""

    def __init__(self, bench, folder: Path) -> None:
        self.bench, self.host, self.pids = bench, folder / "host", folder / "pids"
        self.state = StateDirectory(root=folder / "state")
        self.state.root.mkdir(mode=0o700)
        cpu = self.host / "sys/devices/system/cpu/cpu0/cpufreq"
        pages = self.host / "sys/kernel/mm/transparent_hugepage"
        for path, name, text in ((cpu, "scaling_governor", "schedutil\n"), (pages, "enabled", "madvise\n")):
            path.mkdir(parents=True)
            (path / name).write_text(text)
        document = json.loads(bench.config.read_text())
        self.port = document["ServerConfig"]["port"]
        script = folder / "serve.py"
        script.write_text(SERVE)
        self.start = [sys.executable, "-I", "-S", str(script), str(self.port), str(self.pids)]
        self.service = {"start": self.start, "stop": [sys.executable, "-I", "-S", "-c", STOP, str(self.pids)]}
        self.before = self.facts()

    def facts(self):
        return self.bench.facts(), {
            str(path): path.read_text().strip() for path in self.host.rglob("*") if path.is_file()
        }

    def answers(self) -> bool:
        with ControlPlane() as control:
            return has_text(control.post(f"http://127.0.0.1:{self.port}/generate", {}, seconds=3))

    def run(self, mode: str, step: str, *, production: bool = True) -> "subprocess.Popen[str]":
        if production:
            subprocess.run(self.start, check=True)
            while not self.answers():
                time.sleep(0.01)
        service = json.dumps(self.service) if production else ""
        places = (self.bench.install, self.bench.work_dir, self.state.root, self.host)
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.killed_tuner", *map(str, places), mode, service, step],
            env=self.bench.environment,
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )

    def services(self) -> list[int]:
        """Started productions that still live."""
        stats = [read_stat(int(pid)) for pid in self.pids.read_text().split()]
        return [stat.identity.pid for stat in stats if stat is not None and stat.living]


@pytest.fixture
def case(bench, tmp_path):
    made = Case(bench, tmp_path)
    yield made
    for pid in made.services() if made.pids.exists() else ():
        os.kill(pid, signal.SIGKILL)


IN_PLACE_WRITES = 12
"""Service, that it has stopped (two), governor, huge pages, file and process, and back in reverse order."""
EVERY_STEP = [
    f"{write}-{moment}" for write in range(1, IN_PLACE_WRITES + 1) for moment in ("before", "after")
]


@pytest.mark.parametrize(
    ("mode", "step"),
    [
        *(("in-place", step) for step in (*EVERY_STEP, "running")),
        *(("private", step) for step in ("6-before", "6-after", "7-before", "running")),
    ],
)
def test_whatever_step_it_dies_at_everything_is_put_back(case, mode, step, monkeypatch):
    monkeypatch.setattr("autotune.engines.mindie.production.STOP_SECONDS", 0.5)  # the stand-in stops at once
    with case.run(mode, step) as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    recover(case.state)
    assert case.facts() == case.before
    assert unfinished(case.state.journal) is None
    assert case.answers()
    assert len(case.services()) == 1
    assert recover(case.state) == ("nothing to recover",)


@pytest.mark.parametrize(("mode", "writes"), [("in-place", IN_PLACE_WRITES), ("private", 10)])
def test_a_run_that_is_not_killed_needs_no_recovery_and_writes_as_often_as_is_tried(case, mode, writes):
    with case.run(mode, "never") as process:
        output, _ = process.communicate(timeout=60)
    assert output.split() == [str(writes)]
    assert case.facts() == case.before
    assert case.answers()
    assert recover(case.state) == ("nothing to recover",)


@pytest.mark.parametrize("seconds", [0.6, 1.2])
def test_at_any_moment_everything_is_put_back(case, seconds):
    with case.run("in-place", "never", production=False) as process:
        time.sleep(seconds)
        process.kill()
        process.communicate(timeout=60)
    recover(case.state)
    assert case.facts() == case.before
    assert unfinished(case.state.journal) is None
