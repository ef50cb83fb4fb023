"""A start that fails is noticed, classed and cleaned up, whatever made it fail."""

import os
import signal
import socket
import threading
from pathlib import Path

import pytest

from autotune.emulator.faults import Faults
from autotune.engines.mindie.options import ConfigMode
from autotune.errors import LaunchCause, LaunchFailed, Refused
from autotune.model.change import ProcessStarted
from autotune.model.settings import Settings

pytestmark = pytest.mark.slow

WANTED = Settings(max_batch_size=300, max_prefill_batch_size=150)


def failing(bench, **options) -> LaunchFailed:
    """Launch, and check that all is as before."""
    before = bench.facts()
    with pytest.raises(LaunchFailed) as failure, bench.engine(**options).launch(WANTED):
        pytest.fail("it started")
    assert bench.facts() == before
    return failure.value


def own_port(bench) -> int:
    addresses = next(fact.value for fact in bench.engine().describe().facts if fact.name == "addresses")
    return int(addresses.split()[0].rpartition(":")[2])


def stand_in(bench, script: str) -> None:
    """Put another program in the daemon's place."""
    daemon = bench.install / "bin" / "mindieservice_daemon"
    first = daemon.read_text().splitlines()[0]
    daemon.unlink()
    daemon.write_text(f"{first}\n{script}")
    daemon.chmod(0o550)


def test_a_failure_that_only_the_log_file_tells_of_shows_its_first_error(bench):
    (bench.install / "model").chmod(0o777)
    assert "modelWeightPath" in failing(bench).lines[0]


def test_a_port_in_use_is_refused_by_the_pid_of_its_owner_who_is_left_alone(bench):
    with socket.create_server(("127.0.0.1", own_port(bench))) as server:
        failure = failing(bench)
        assert failure.cause is LaunchCause.PORT
        assert f"pid {os.getpid()}" in failure.message
        assert server.fileno() > 0
    assert len(list(bench.work_dir.glob("launch-001/output.log"))) == 0  # it was never started


def test_a_daemon_that_reads_its_own_file_all_the_same_is_no_private_launch(bench):
    """A version that does not know MIES_CONFIG_JSON_PATH listens where production would."""
    stand_in(
        bench,
        f"""
import json, socket, time
server = json.load(open({str(bench.config)!r}))["ServerConfig"]
listening = socket.create_server((server["ipAddress"], server["port"]))
print("Daemon start success!", flush=True)
time.sleep(60)
""",
    )
    before = bench.facts()
    engine = bench.engine(config_mode=ConfigMode.AUTO)
    with pytest.raises(Refused, match="MIES_CONFIG_JSON_PATH") as refused, engine.launch(WANTED):
        pytest.fail("it started")
    assert "in-place" in refused.value.hint
    assert bench.facts() == before


def test_values_that_the_daemon_would_refuse_never_start_it(bench):
    before = bench.facts()
    wrong = Settings(max_batch_size=100, max_prefill_batch_size=200)
    with pytest.raises(LaunchFailed) as failure, bench.engine().launch(wrong):
        pytest.fail("it started")
    assert failure.value.cause is LaunchCause.CONFIG
    assert bench.journal.recorded == []
    assert bench.facts() == before


def test_cpus_that_do_not_exist(bench):
    failure = failing(bench, cpus=frozenset({0, 5000}))
    assert "CPUs" in failure.message


@pytest.mark.parametrize("moment", [0.05, 0.4, 0.9])
def test_ctrl_c_while_it_starts_puts_everything_back(make_bench, moment):
    bench = make_bench(start_seconds=80.0)
    before = bench.facts()
    timer = threading.Timer(moment, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the interrupt may come anywhere in here
        timer.start()
        with bench.engine().launch(WANTED):
            pytest.fail("it started")
    timer.join()
    assert bench.facts() == before


def test_a_daemon_that_the_kernel_stops_for_reading_the_terminal_is_not_waited_for(bench):
    stand_in(bench, "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)")
    assert "password" in failing(bench).message


def test_a_journal_that_cannot_be_written_stops_the_start_before_the_daemon_runs(bench):
    class FullDisk:
        def record(self, change):
            if isinstance(change, ProcessStarted):
                raise OSError(28, "No space left on device")

        def settle(self, change):
            pass

    before = bench.facts()
    with pytest.raises(Refused, match="No space left"), bench.engine(journal=FullDisk()).launch(WANTED):
        pytest.fail("it started")
    assert bench.facts() == before
    assert (bench.work_dir / "launch-001" / "output.log").read_text() == ""


def test_memory_that_does_not_come_back_stops_the_start(bench):
    def wait():
        raise LaunchFailed(LaunchCause.MEMORY, "device 0 still holds 20 GiB of pid 1")

    assert failing(bench, before_start=wait).cause is LaunchCause.MEMORY


def test_the_logs_of_a_failed_start_are_kept_beside_the_launch(make_bench):
    bench = make_bench(faults=Faults(start_failure="model"))
    failing(bench)
    kept = [path for path in (bench.work_dir / "launch-001").rglob("*.log") if path.stat().st_size]
    assert {path.name.partition("_")[0] for path in kept} >= {"output.log", "mindie-server"}


def test_logs_of_a_version_that_has_its_own_place_for_them_are_copied(bench):
    home = Path(bench.environment["HOME"])
    stand_in(
        bench,
        f"""
import os
os.makedirs({str(home / "mindie/log/debug")!r})
open({str(home / "mindie/log/debug/mindie-server_7.log")!r}, "w").write("ERROR of an old version\\n")
raise SystemExit(3)
""",
    )
    failure = failing(bench)
    assert "exit code 3" in failure.message
    copied = bench.work_dir / "launch-001" / "found" / "mindie-server_7.log"
    assert copied.read_text() == "ERROR of an old version\n"
