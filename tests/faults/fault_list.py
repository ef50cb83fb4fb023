"""The list of faults: those that the emulated daemon is told to have, and those of its host."""

import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from autotune.emulator.faults import Faults
from autotune.emulator.marker import read_marker, write_marker
from autotune.events import Event, Phase, PhaseChanged
from tests.faults.fault_runs import FaultRun, Stage

_ASKS = "import time; print('Enter PEM pass phrase:', end='', flush=True); time.sleep(60)"


def _time_wait(stage: Stage) -> None:
    """A connection that the server closed first rests on the port; time then jumps."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", stage.port))
        server.listen()
        with socket.create_connection(("127.0.0.1", stage.port)) as client:
            accepted, _ = server.accept()
            accepted.close()
            client.recv(1)
    stage.clock = JumpingClock()


class JumpingClock:
    """Its sleep costs no time."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def wall(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        self._now += seconds


def _occupied(stage: Stage) -> None:
    stage.stack.enter_context(socket.create_server(("127.0.0.1", stage.port)))


def _taken_meanwhile(stage: Stage) -> None:
    def take() -> None:
        stage.stack.enter_context(socket.create_server(("127.0.0.1", stage.port)))

    stage.once_it_runs(take)


def _unwritable(stage: Stage) -> None:
    (stage.directory / "work").write_text("a file where the working directory was to be")


def _kill_worker(stage: Stage) -> None:
    def kill() -> None:
        pid = stage.journal.daemon.pid if stage.journal.daemon else 0
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)

    stage.when(Phase.MEASURING, kill, after=0.2)


def _truncate_log(stage: Stage) -> None:
    stage.when(Phase.WARMING_UP, lambda: os.truncate(stage.work_dir / "launch-001" / "output.log", 0))


def _edit_meanwhile(stage: Stage) -> None:
    def edit() -> None:
        stage.edit('"maxIterTimes" : 512', '"maxIterTimes" : 77')

    stage.when(Phase.WARMING_UP, edit)


def _from_the_load_on(faults: Faults) -> Callable[[Stage], None]:
    """The service is well until the load begins; it reads its faults again when they have changed."""

    def prepare(stage: Stage) -> None:
        def strike(event: Event) -> None:
            if isinstance(event, PhaseChanged) and event.phase is Phase.MEASURING:
                write_marker(stage.install, replace(read_marker(stage.install), faults=faults))

        stage.listeners.append(strike)

    return prepare


def _patient(stage: Stage) -> None:
    """The service gives up no request, however slow the machine is."""
    stage.edit('"tokenTimeout" : 600', '"tokenTimeout" : 3600')
    stage.edit('"e2eTimeout" : 600', '"e2eTimeout" : 65535')


def _kill_daemon(stage: Stage) -> None:
    stage.when(Phase.MEASURING, stage.kill_daemon, after=0.2)


def _start_and_die(stage: Stage) -> None:
    stage.once_it_runs(stage.kill_daemon)


RUNS = (
    FaultRun(
        "configuration that is no JSON", "start", prepare=lambda s: s.edit('"maxBatchSize"', "maxBatchSize")
    ),
    FaultRun(
        "bad config",
        "start",
        prepare=lambda s: s.edit('"templateName" : "Standard_LLM"', '"templateName" : "Standard_llama"'),
        kills=True,
    ),
    FaultRun("configuration that others may read", "start", prepare=lambda s: s.config.chmod(0o644)),
    FaultRun("port busy", "start", prepare=_occupied),
    FaultRun("port taken while the model loads", "start", prepare=_taken_meanwhile, kills=True,
             install={"start_seconds": 60.0}),
    FaultRun("TIME_WAIT on the port", "start", prepare=_time_wait),
    FaultRun("start hang", "start", Faults(start_hang=True), options={"start_timeout": 1.5}),
    FaultRun("out of memory while loading", "start", Faults(out_of_memory_at=200), kills=True),
    FaultRun("out of memory at warm-up", "start", Faults(warm_up_out_of_memory_at=8192), kills=True),
    FaultRun("model that does not load", "start", Faults(start_failure="model"), kills=True),
    FaultRun("collective communication fails", "start", Faults(start_failure="hccl"), kills=True),
    FaultRun("weights that others may read", "start", Faults(start_failure="permission"), kills=True),
    FaultRun("exit without a word", "start", Faults(start_failure="exit"), kills=True),
    FaultRun("daemon killed while it loads", "start", prepare=_start_and_die, kills=True,
             install={"start_seconds": 60.0}),
    FaultRun(
        "key that asks for its password", "start",
        prepare=lambda s: s.stand_in(_ASKS),
    ),
    FaultRun("unwritable working directory", "start", prepare=_unwritable),
    FaultRun("404 after success", "ready", Faults(not_found=True), impatient=True),
    FaultRun("health that lies", "ready", Faults(stall_after_requests=1), impatient=True),
    FaultRun("other values served than written", "ready", Faults(served_max_batch_size=77)),
    FaultRun("log without the k_caches line", "ready", install={"version": "1.0.0"}),
    FaultRun("npuBlockNum that changes between starts", "ready", Faults(blocks_spread=0.2), launches=2),
    FaultRun("truncated log", "ready", prepare=_truncate_log),
    FaultRun("killed worker", "load", prepare=_kill_worker, kills=True),
    FaultRun("killed daemon", "load", prepare=_kill_daemon, kills=True),
    FaultRun("crash after some requests", "load", Faults(crash_after_requests=10), kills=True),
    FaultRun("out of memory under load", "load", Faults(out_of_memory_after_requests=10), kills=True),
    FaultRun("hang under load", "load", Faults(stall_after_requests=10),
             prepare=lambda s: s.edit('"tokenTimeout" : 600', '"tokenTimeout" : 40')),
    FaultRun("errors instead of replies", "load", prepare=_from_the_load_on(Faults(error_rate=1.0))),
    FaultRun("some errors", "load", prepare=_from_the_load_on(Faults(error_rate=0.2)), level_seconds=80.0),
    FaultRun("streams that end half-way", "load", level_seconds=80.0,
             prepare=_from_the_load_on(Faults(truncate_rate=0.5))),
    FaultRun("requests of somebody else", "load", Faults(foreign_requests_per_second=3.0), prepare=_patient),
    FaultRun("daemon that ignores SIGTERM", "stop", Faults(deaf=True)),
    FaultRun("orphans of a killed daemon", "stop", Faults(orphans=True),
             prepare=_kill_daemon, kills=True),
    FaultRun("configuration edited by somebody else", "stop", prepare=_edit_meanwhile, batch=300),
)  # fmt: skip
