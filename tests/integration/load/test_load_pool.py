"""Client processes of a campaign: they outlive tests, never their owner, and a lost one is told."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autotune.errors import UsageError
from autotune.load.client.plan import Target
from autotune.load.client.pool import WorkerPool
from autotune.load.client.tls import TlsFiles
from autotune.load.client.worker_process import ClientDied
from autotune.load.ends import ForRequests, ForSeconds
from autotune.load.load_test import run_load_test
from autotune.process.identity import alive, identity_of

FAST = ("--first-ms", "10", "--step-ms", "5")


def pids(pool):
    return [worker.pid for worker in pool._workers]


def test_a_process_serves_one_test_after_the_other(mock, make_test):
    with mock(*FAST) as server, WorkerPool() as pool:
        first = run_load_test(make_test(server, end=ForRequests(count=20)), pool=pool)
        before = pids(pool)
        second = run_load_test(make_test(server, end=ForSeconds(seconds=0.5)), pool=pool)
        third = run_load_test(make_test(server, end=ForRequests(count=21), workers=2), pool=pool)
        assert pids(pool)[:1] == before
        assert server.truth()["requests"] >= 41
        identities = [identity_of(pid) for pid in pids(pool)]
    assert (first.completed, third.completed, third.health.processes) == (20, 21, 2)
    assert second.events > 0
    assert not any(alive(one) for one in identities)


def test_a_killed_process_is_told_and_another_takes_its_place(mock, make_test):
    with mock(*FAST) as server, WorkerPool() as pool:
        pool.prepare(1)
        timer = threading.Timer(1.0, lambda: os.kill(pids(pool)[0], signal.SIGKILL))
        timer.start()
        with pytest.raises(ClientDied, match="was killed by signal 9 before the test was over"):
            run_load_test(make_test(server, end=ForSeconds(seconds=20)), pool=pool)
        assert run_load_test(make_test(server, end=ForRequests(count=20)), pool=pool).completed == 20


def test_signals_to_the_whole_group_do_not_reach_a_client_process(mock, make_test):
    with mock(*FAST) as server, WorkerPool() as pool:
        run_load_test(make_test(server, end=ForRequests(count=5)), pool=pool)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(pids(pool)[0], number)
        assert os.getsid(pids(pool)[0]) != os.getsid(0)
        before = pids(pool)
        assert run_load_test(make_test(server, end=ForRequests(count=20)), pool=pool).completed == 20
        assert pids(pool) == before


def test_a_file_that_does_not_serve_is_wrong_usage_in_another_process_too(mock, make_test):
    with mock(*FAST) as server, WorkerPool() as pool:
        test = make_test(server)
        target = Target(
            address=test.target.address.__class__(secure=True, host="127.0.0.1", port=server.port),
            api=test.target.api,
            model="m",
            tls=TlsFiles(ca=Path("/nowhere/ca.pem")),
        )
        with pytest.raises(UsageError, match="nowhere"):
            run_load_test(make_test(server, target=target), pool=pool)


def test_what_lies_in_the_working_directory_is_not_run(mock, make_test, tmp_path, monkeypatch):
    for name in ("asyncio.py", "signal.py"):
        (tmp_path / name).write_text("raise SystemExit(9)")
    (tmp_path / "autotune").mkdir()
    (tmp_path / "autotune" / "__init__.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    with mock(*FAST) as server, WorkerPool() as pool:
        assert run_load_test(make_test(server, end=ForRequests(count=5)), pool=pool).completed == 5


OWNER = """\
import sys, time
from autotune.load.client.pool import WorkerPool
pool = WorkerPool()
pool.prepare(2)
print(*(worker.pid for worker in pool._workers), flush=True)
time.sleep(60)
"""


def test_client_processes_end_with_an_owner_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        workers = [identity_of(int(pid)) for pid in owner.stdout.readline().split()]
        assert all(alive(one) for one in workers)
        owner.kill()
    deadline = time.monotonic() + 30
    while any(alive(one) for one in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
