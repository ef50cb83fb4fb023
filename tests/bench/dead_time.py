"""Dead time of a launch: what the controller adds to the daemon's own start and stop.

`python tests/bench/dead_time.py [--launches N]` starts the emulated daemon N times in each mode and prints,
in milliseconds of the host: from the order to the start of the daemon's program (with the crash journal on
disk), from the daemon's readiness (an observer asks every 2 ms) to the service in hand, from the order to
stop to SIGTERM, and from the daemon's end to the end of the launch. The daemon's own start and stop, and what
is measured in between, are left out. The last row runs a campaign of N launches by its command and shows what
it spends between the phases of its launches: decisions, the database, the host.

A verdict ends it: median and spread of the sum, and exit code 1 when the median is above the limit.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from unittest import mock

from autotune.emulator.install import InstallOptions, make_install
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.engine import MindieEngine
from autotune.engines.mindie.options import ConfigMode, MindieOptions
from autotune.model.change import Change, ProcessStarted
from autotune.model.settings import Settings
from autotune.process import ending
from autotune.process.identity import Identity, alive, boot_id
from autotune.process.ports import choose_free
from autotune.store.journal import FileJournal, Unfinished

TIME_SCALE, START_SECONDS = 20.0, 20.0
_LOOK_SECONDS = 0.002
MOST_SECONDS, BEST_SECONDS = 1.0, 0.3


@dataclass(frozen=True)
class DeadTime:
    """Seconds of one launch that are the controller's own."""

    before_start: float
    after_ready: float
    before_stop: float
    after_end: float

    @property
    def total(self) -> float:
        return self.before_start + self.after_ready + self.before_stop + self.after_end


class Observer:
    """Sees the daemon from outside: when it is ready, and when it has ended."""

    def __init__(self, management_url: str) -> None:
        self._url = f"{management_url}/v2/health/ready"
        self.identity: Identity | None = None
        self.ready: float | None = None
        self.ended: float | None = None
        self._quit = threading.Event()
        self._threads = [threading.Thread(target=look, daemon=True) for look in (self._ask, self._watch)]

    def _ask(self) -> None:
        """By connections that end with a reset: others would rest on the port and hold the next start up."""
        with ControlPlane() as control:
            while not self._quit.wait(_LOOK_SECONDS) and self.ready is None:
                reply = control.get(self._url, seconds=1.0)
                if reply is not None and reply.ok:
                    self.ready = time.perf_counter()

    def _watch(self) -> None:
        while not self._quit.wait(_LOOK_SECONDS) and self.ended is None:
            if self.identity is not None and not alive(self.identity):
                self.ended = time.perf_counter()

    @contextmanager
    def looking(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._quit.set()
            for thread in self._threads:
                thread.join()


class Journal:
    """The crash journal on disk; it hands the daemon to the observer and notes when it may run."""

    def __init__(self, path: Path) -> None:
        self.observer: Observer | None = None
        self.started = 0.0
        head = Unfinished(run="dead-time", pid=os.getpid(), boot_id=boot_id(), started_wall=time.time())
        self._file = FileJournal(path, head)

    def record(self, change: Change) -> None:
        self._file.record(change)
        if isinstance(change, ProcessStarted) and self.observer is not None:
            self.observer.identity = Identity(pid=change.pid, create_time=change.create_time)
            self.started = time.perf_counter()

    def settle(self, change: Change) -> None:
        self._file.settle(change)


def measure(directory: Path, mode: ConfigMode, launches: int) -> list[DeadTime]:
    """Start and stop the emulated daemon so many times, each time with another setting."""
    business, management, metrics = choose_free(3)
    install = make_install(
        directory / mode.value,
        InstallOptions(
            port=business,
            management_port=management,
            metrics_port=metrics,
            time_scale=TIME_SCALE,
            start_seconds=START_SECONDS,
        ),
    )
    journal = Journal(directory / f"{mode.value}-journal.json")
    options = MindieOptions(
        home=install,
        work_dir=directory / f"{mode.value}-work",
        journal=journal,
        environment={"PATH": os.environ["PATH"], "HOME": str(directory), "MINDIE_LOG_LEVEL": "ERROR"},
        config_mode=mode,
        start_timeout=60.0,
    )
    engine = MindieEngine(options)
    return [_one(engine, journal, 200 + 10 * number) for number in range(launches)]


def _one(engine: MindieEngine, journal: Journal, batch: int) -> DeadTime:
    free = choose_free(3)
    sent: list[float] = []
    send = ending.send

    def sending(*arguments: object) -> bool:
        sent.append(time.perf_counter())
        return send(*arguments)  # type: ignore[arg-type] - passed on as it came

    with (
        mock.patch.object(ending, "send", sending),
        mock.patch("autotune.engines.mindie.trial.choose_free", return_value=free),
    ):
        management = _management(engine, free)
        observer = journal.observer = Observer(management)
        with observer.looking():
            ordered = time.perf_counter()
            with engine.launch(Settings(max_batch_size=batch, max_prefill_batch_size=batch // 2)):
                in_hand = time.perf_counter()
                time.sleep(0.1)
                stopping = time.perf_counter()
            done = time.perf_counter()
    assert observer.ready is not None
    assert observer.ended is not None
    return DeadTime(
        before_start=journal.started - ordered,
        after_ready=in_hand - observer.ready,
        before_stop=sent[0] - stopping,
        after_end=done - observer.ended,
    )


def _management(engine: MindieEngine, free: tuple[int, ...]) -> str:
    if engine.options.config_mode is not ConfigMode.IN_PLACE:
        return f"http://127.0.0.2:{free[1]}"
    addresses = next(fact.value for fact in engine.describe().facts if fact.name == "addresses")
    return addresses.split()[1]


_PROFILE = """
name: dead-time
engine: {{kind: mindie, home: {home}, config_mode: private, start_timeout: 60s}}
workload:
  api: tgi
  dataset: {{type: synthetic, input_tokens: 186, output_tokens: {{mean: 346, max: 512}}}}
  max_output_tokens: 512
  concurrency: 40
search: {{strategy: grid, step: 2, max_launches: {launches}}}
measuring: {{level_cap: 60s}}
host: {{governor: null, transparent_hugepages: null, cpus: null}}
report: {{directory: {home}/reports}}
store: {{state: {home}/state}}
"""


def between_phases(directory: Path, launches: int) -> list[float]:
    """Seconds a launch that a campaign spends outside the phases of its launches, one campaign after another.

    The preparation before the first launch and the report after the last are shared by the launches.
    """
    return [_campaign(directory / f"campaign-{number}", launches) for number in range(3)]


def _campaign(directory: Path, launches: int) -> float:
    business, management, metrics = choose_free(3)
    ports = {"port": business, "management_port": management, "metrics_port": metrics}
    small = {"blocks": 136, "max_batch_size": 22, "time_scale": 40.0, "start_seconds": START_SECONDS}
    install = make_install(directory, InstallOptions(**ports, **small))
    profile = directory / "profile.yaml"
    profile.write_text(_PROFILE.format(home=install, launches=launches), encoding="utf-8")
    profile.chmod(0o600)
    command = [sys.executable, "-m", "autotune", "tune", str(profile), "--yes", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    phases = sum(sum(launch["seconds"].values()) for launch in report["launches"])
    return (report["ended"] - report["started"] - phases) / len(report["launches"])


def _row(name: str, parts: list[float], totals: list[float]) -> str:
    shown = "".join(f"{1000 * part:14.0f}" for part in parts) or " " * 14 * len(fields(DeadTime))
    numbers = (statistics.median(totals), min(totals), max(totals))
    return f"{name:10}{shown}" + "".join(f"{1000 * number:10.0f}" for number in numbers)


def _verdict(sums: list[float]) -> bool:
    median = statistics.median(sums)
    holds = median <= MOST_SECONDS
    aim = "met" if median <= BEST_SECONDS else "not met"
    print(
        f"verdict: {'holds' if holds else 'DOES NOT HOLD'}: median {1000 * median:.0f} ms a launch "
        f"({1000 * min(sums):.0f} to {1000 * max(sums):.0f} over {len(sums)} launches, what lies between the "
        f"phases included), at most {1000 * MOST_SECONDS:.0f}; the aim of {1000 * BEST_SECONDS:.0f} is {aim}"
    )
    return holds


def main() -> int:
    """Print the medians of each part and the spread of the total; 1 when the limit does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--launches", type=int, default=7)
    launches = parser.parse_args().launches
    print("dead time of a launch in ms, medians; at most 1000, better 300; emulated daemon")
    heads = "".join(f"{part.name:>14}" for part in fields(DeadTime))
    print(f"{'mode':10}{heads}{'total':>10}{'least':>10}{'most':>10}")
    totals: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        for mode in (ConfigMode.PRIVATE, ConfigMode.IN_PLACE):
            found = measure(Path(directory), mode, launches)
            parts = [statistics.median(getattr(one, part.name) for one in found) for part in fields(DeadTime)]
            totals += [one.total for one in found]
            print(_row(mode.value, parts, [one.total for one in found]))
        between = between_phases(Path(directory), launches)
        print(_row("between", [], between))
    return 0 if _verdict([total + statistics.median(between) for total in totals]) else 1


if __name__ == "__main__":
    sys.exit(main())
