"""World: one emulated install with a profile, a fake /sys and, where wanted, a live production service."""

import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from autotune.cli.rows import PURPOSES
from autotune.emulator.faults import Faults
from autotune.emulator.install import InstallOptions, make_install
from autotune.emulator.marker import read_marker, write_marker
from autotune.model.launch import LaunchRecord
from autotune.process.ports import choose_free
from autotune.store.state import StateDirectory
from autotune.store.study import CampaignStore

REPOSITORY = Path(__file__).parents[2]
TIME_SCALE = 300.0
ENDED = (0, 5)
"""How a campaign comes to its end; 5 where the machine was too busy for one valid reading."""
MARK = "TORTURE_WORLD"
PROFILE = """\
name: torture
engine: {{home: {install}, config_mode: {mode}, start_timeout: 60s{service}}}
workload:
  dataset: {{type: synthetic, input_tokens: 64, output_tokens: {{mean: 48, max: 96}}}}
  max_output_tokens: 96
  concurrency: 24
search: {{strategy: grid, step: 8, max_launches: {launches}}}
measuring: {{final_half_width: 10%, level_cap: 60s}}
host: {{governor: performance, transparent_hugepages: always, cpus: null}}
store: {{state: {state}}}
report: {{directory: {reports}}}
"""
START = """\
import os, subprocess, sys
daemon, pid_file, log = sys.argv[1:]
with open(log, "ab") as output:
    started = subprocess.Popen([daemon], stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/")
with open(pid_file, "w") as file:
    file.write(str(started.pid))
"""
STOP = """\
import os, signal, sys, time
pid = int(open(sys.argv[1]).read())
os.kill(pid, signal.SIGTERM)
for _ in range(400):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                break
    except FileNotFoundError:
        break
    time.sleep(0.05)
"""
_ROW = re.compile(rf"^ *\d+ +({'|'.join(PURPOSES.values())}) (?!.*not finished)", re.MULTILINE)


class Failed(AssertionError):
    """Something that was promised does not hold."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise Failed(what)


@dataclass(frozen=True)
class HostFacts:
    """What must be the same afterwards."""

    config: tuple[str, int, int, int]
    settings: tuple[tuple[str, str], ...]


@dataclass
class World:
    """One place to torture."""

    root: Path
    mode: str
    with_production: bool
    launches: int = 3
    faults: Faults = field(default_factory=Faults)
    time_scale: float = TIME_SCALE
    started: list[subprocess.Popen] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.install, self.state = self.root / "install", self.root / "state"
        self.host, self.clock = self.root / "host", self.root / "clock"
        self.profile, self.pid_file = self.root / "profile.yaml", self.root / "production.pid"
        self.root.mkdir(parents=True)
        self._make_install()
        self._make_host()
        self._make_profile()
        if self.with_production:
            subprocess.run(self.start_command, check=True, env=self.environment)
            self.wait_for(self.answers, "production does not answer at the beginning")

    def _make_install(self) -> None:
        port, management, metrics = choose_free(3)
        options = InstallOptions(
            blocks=24,
            max_batch_size=12,
            noise=0.01,
            time_scale=self.time_scale,
            port=port,
            management_port=management,
            metrics_port=metrics,
            faults=self.faults,
        )
        make_install(self.install, options)

    def _make_host(self) -> None:
        for cpu in range(4):
            folder = self.host / f"sys/devices/system/cpu/cpu{cpu}/cpufreq"
            folder.mkdir(parents=True)
            (folder / "scaling_governor").write_text("schedutil\n" if cpu % 2 else "powersave\n")
            (folder / "scaling_available_governors").write_text("performance powersave schedutil\n")
        folder = self.host / "sys/kernel/mm/transparent_hugepage"
        folder.mkdir(parents=True)
        (folder / "enabled").write_text("madvise\n")
        (folder / "hpage_pmd_size").write_text("2097152\n")

    def _make_profile(self) -> None:
        start, stop = self.root / "start.py", self.root / "stop.py"
        start.write_text(START)
        stop.write_text(STOP)
        daemon, log = str(self.install / "bin/mindieservice_daemon"), str(self.root / "production.log")
        self.start_command = [sys.executable, str(start), daemon, str(self.pid_file), log]
        self.stop_command = [sys.executable, str(stop), str(self.pid_file)]
        service = json.dumps({"stop": self.stop_command, "start": self.start_command})
        text = PROFILE.format(
            install=self.install,
            mode=self.mode,
            state=self.state,
            reports=self.root / "reports",
            launches=self.launches,
            service=f", service: {service}" if self.with_production else "",
        )
        self.profile.write_text(text)
        self.profile.chmod(0o600)

    # -- what runs ------------------------------------------------------------------------------

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, MARK: str(self.root), "PYTHONPATH": str(REPOSITORY)}

    @property
    def log(self) -> Path:
        return self.root / "tuner.log"

    def begin(self, *options: str) -> "subprocess.Popen[bytes]":
        """Start a campaign; its process group is its own, as in a terminal."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                self._command("tune", str(self.profile), "--yes", *options),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                cwd=REPOSITORY,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def run(self, *arguments: str, seconds: float = 200.0) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self._command(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=REPOSITORY,
            timeout=seconds,
            check=False,
        )

    def tune(self, *options: str) -> "subprocess.CompletedProcess[str]":
        return self.run("tune", str(self.profile), "--yes", *options)

    def recover(self, *options: str) -> "subprocess.CompletedProcess[str]":
        return self.run("recover", "--state", str(self.state), *options)

    def begin_recover(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                self._command("recover", "--state", str(self.state)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                cwd=REPOSITORY,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "tests.torture.tuner", str(self.host), str(self.clock), *arguments]

    # -- what is seen ---------------------------------------------------------------------------

    @property
    def config(self) -> Path:
        return self.install / "conf/config.json"

    @property
    def journal(self) -> Path:
        return self.state / "journal.json"

    def facts(self) -> HostFacts:
        status = self.config.lstat()
        digest = hashlib.sha256(self.config.read_bytes()).hexdigest()
        places = sorted(path for path in self.host.rglob("*") if path.is_file())
        values = tuple((str(path.relative_to(self.host)), path.read_text().strip()) for path in places)
        return HostFacts(config=(digest, status.st_mode, status.st_uid, status.st_gid), settings=values)

    def printed(self) -> int:
        """Rows of finished launches that were printed."""
        return len(_ROW.findall(self.log.read_text(errors="replace"))) if self.log.exists() else 0

    def finished(self) -> tuple[LaunchRecord, ...]:
        """Launches of the newest run, as they are stored."""
        if not (self.state / "campaigns.db").exists():
            return ()
        with CampaignStore(StateDirectory(root=self.state).database_url) as store:
            runs = store.runs()
            return store.load(runs[-1].run).launches if runs else ()

    def unfinished_runs(self) -> int:
        if not (self.state / "campaigns.db").exists():
            return 0
        with CampaignStore(StateDirectory(root=self.state).database_url) as store:
            return sum(run.verdict is None or run.verdict.code.value == "interrupted" for run in store.runs())

    def answers(self) -> bool:
        """Whether production answers a real request; the connection leaves no TIME_WAIT."""
        port = json.loads(self.config.read_text())["ServerConfig"]["port"]
        body = json.dumps({"inputs": "hello", "parameters": {"max_new_tokens": 1}})
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.connect()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.request("POST", "/generate", body, {"Content-Type": "application/json"})
            return bool(json.loads(connection.getresponse().read())["generated_text"])
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def production_pids(self) -> set[int]:
        try:
            root = psutil.Process(int(self.pid_file.read_text()))
            return {root.pid, *(child.pid for child in root.children(recursive=True))}
        except (OSError, ValueError, psutil.Error):
            return set()

    def processes(self) -> list[psutil.Process]:
        """All that descends from this world, production's own left aside."""
        production = self.production_pids()
        return [each for each in psutil.process_iter() if each.pid not in production and self._is_ours(each)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            named = str(self.root) in " ".join(process.cmdline())
            ours = named or process.environ().get(MARK) == str(self.root)
            return ours and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def trial_daemons(self) -> list[psutil.Process]:
        return [each for each in self.processes() if "mindieservice_daemon" in _command_of(each)]

    def serves(self) -> bool:
        """Whether a trial has come up."""
        logs = self.state.glob("runs/*/launch-*/output.log")
        return any("Daemon start success!" in log.read_text(errors="replace") for log in logs)

    # -- what must hold -------------------------------------------------------------------------

    def wait_for(self, ready: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
        deadline = time.monotonic() + seconds
        while not ready():
            require(time.monotonic() < deadline, what)
            time.sleep(0.05)

    def restored(self, before: HostFacts) -> None:
        """Everything is as it was."""
        now = self.facts()
        require(now.config == before.config, f"config.json differs: {before.config} {now.config}")
        require(now.settings == before.settings, f"host settings differ: {before.settings} {now.settings}")
        left = list(self.config.parent.glob(".*"))
        require(not left, f"left beside config.json: {left}")
        require(not self.journal.exists(), "the crash journal is still there")
        self.nothing_runs()
        if self.with_production:
            self.wait_for(self.answers, "production does not answer", 30.0)

    def nothing_runs(self) -> None:
        deadline = time.monotonic() + 5.0
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        require(
            not left, f"orphans: {[(p.pid, ' '.join(p.cmdline())[:120]) for p in left if p.is_running()]}"
        )

    def nothing_lost(self, launches: tuple[LaunchRecord, ...]) -> None:
        """These launches are still there, unchanged, and none was made twice under one number."""
        now = self.finished()
        require(now[: len(launches)] == launches, f"finished launches lost: {len(launches)} {len(now)}")
        numbers = [launch.number for launch in now]
        require(len(set(numbers)) == len(numbers), f"launch numbers repeat: {numbers}")

    def change_faults(self, faults: Faults) -> None:
        write_marker(self.install, replace(read_marker(self.install), faults=faults))

    def close(self) -> None:
        """End everything that belongs to this world, whatever became of it."""
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        for pid in self.production_pids() | {process.pid for process in self.processes()}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.root, ignore_errors=True)


def _command_of(process: psutil.Process) -> str:
    """Empty for one that has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
