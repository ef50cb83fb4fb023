"""A running stand-in daemon on free ports, 20 times faster than what it stands in for."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import requests

from autotune.emulator.install import InstallOptions, make_install
from autotune.emulator.shared_memory import SharedFiles

SCALE = 20.0


@dataclass(frozen=True, kw_only=True)
class Daemon:
    """A daemon that was started, and where its planes are."""

    process: subprocess.Popen[str]
    install: Path
    output: Path
    errors: Path
    options: InstallOptions

    @property
    def business(self) -> str:
        return f"http://127.0.0.1:{self.options.port}"

    @property
    def management(self) -> str:
        return f"http://127.0.0.2:{self.options.management_port}"

    @property
    def metrics(self) -> str:
        return f"http://127.0.0.2:{self.options.metrics_port}"

    def said(self) -> str:
        return self.output.read_text(encoding="utf-8")

    def complained(self) -> str:
        return self.errors.read_text(encoding="utf-8")

    def get(self, url: str, **given: Any) -> requests.Response:
        return requests.get(url, timeout=60, **given)

    def post(self, path: str, body: Any, **given: Any) -> requests.Response:
        return requests.post(f"{self.business}{path}", json=body, timeout=60, **given)

    def wait_started(self, seconds: float = 60.0) -> "Daemon":
        end = time.monotonic() + seconds
        while "Daemon start success!" not in self.said():
            assert self.process.poll() is None, f"ended: {self.process.returncode}\n{self.complained()}"
            assert time.monotonic() < end, f"not started\n{self.said()}\n{self.complained()}"
            time.sleep(0.01)
        return self

    def wait_ready(self) -> "Daemon":
        self.wait_started()
        end = time.monotonic() + 60
        while self.get(f"{self.management}/v2/health/ready").status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.02)
        return self

    def wait_ended(self, seconds: float = 60.0) -> int:
        return self.process.wait(timeout=seconds)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, on any address."""
    probes = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def free_options() -> InstallOptions:
    """Options with free ports."""
    port, management, metrics = free_ports(3)
    return InstallOptions(
        port=port,
        management_port=management,
        metrics_port=metrics,
        time_scale=SCALE,
        start_seconds=1.0,
        noise=0.0,
    )


class Starter:
    """Makes installs with changed options and starts their daemons."""

    def __init__(self, folder: Path, options: InstallOptions) -> None:
        self._folder = folder
        self._options = options
        self._begun: list[Daemon] = []

    def __call__(
        self,
        *,
        environment: dict[str, str] | None = None,
        arguments: tuple[str, ...] = (),
        edit: Callable[[Path], object] | None = None,
        new_session: bool = False,
        **changes: Any,
    ) -> Daemon:
        given = replace(self._options, **changes)
        place = make_install(self._folder / f"install{len(self._begun)}", given)
        if edit is not None:
            edit(place)
        return self.run(place, given, environment=environment, arguments=arguments, new_session=new_session)

    def run(
        self,
        place: Path,
        given: InstallOptions,
        *,
        environment: dict[str, str] | None = None,
        arguments: tuple[str, ...] = (),
        new_session: bool = False,
    ) -> Daemon:
        """Start the daemon of an install that is there."""
        number = len(self._begun)
        output, errors = self._folder / f"output{number}.log", self._folder / f"errors{number}.log"
        home = self._folder / "home"
        base = {"PATH": os.environ["PATH"], "HOME": str(home), "MINDIE_LOG_TO_FILE": "0"}
        with output.open("w") as out, errors.open("w") as err:
            process = subprocess.Popen(
                [str(place / "bin" / "mindieservice_daemon"), *arguments],
                env=base | (environment or {}),
                stdout=out,
                stderr=err,
                cwd="/",
                text=True,
                start_new_session=new_session,
            )
        daemon = Daemon(process=process, install=place, output=output, errors=errors, options=given)
        self._begun.append(daemon)
        return daemon

    def end_all(self) -> None:
        """Kill what still runs."""
        for daemon in self._begun:
            if daemon.process.poll() is None:
                with suppress(ProcessLookupError, PermissionError):
                    if os.getpgid(daemon.process.pid) == daemon.process.pid:
                        os.killpg(daemon.process.pid, signal.SIGKILL)
                daemon.process.kill()
                daemon.process.wait(timeout=10)
            for path in SharedFiles(daemon.install).leftovers():
                path.unlink(missing_ok=True)


@pytest.fixture
def options() -> InstallOptions:
    """Options with free ports."""
    return free_options()


@pytest.fixture
def start(tmp_path: Path, options: InstallOptions) -> Iterator[Starter]:
    """Starts daemons and ends all of them after the test."""
    starter = Starter(tmp_path, options)
    yield starter
    starter.end_all()


@pytest.fixture
def daemon(start: Starter) -> Daemon:
    """A daemon with default options that is ready, for one test."""
    return start().wait_ready()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that the tests of a module share; they leave it as they found it."""
    starter = Starter(tmp_path_factory.mktemp("served"), free_options())
    yield starter().wait_ready()
    starter.end_all()
