"""A port is free when the daemon's own probe would say so."""

import os
import socket
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from autotune.errors import LaunchCause, LaunchFailed
from autotune.process.ports import choose_free, is_free, listener, wait_until_free


class Clock:
    """Virtual time."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def wall(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


def left_in_time_wait() -> int:
    """Give a port whose server closed first: SO_REUSEADDR could bind it, the daemon's probe cannot."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            accepted, _ = server.accept()
            accepted.close()
            client.recv(1)
    return port


def test_a_port_that_somebody_listens_on_is_not_free_on_any_address():
    with socket.create_server(("127.0.0.2", 0)) as server:
        assert not is_free(server.getsockname()[1])


def test_time_wait_counts_as_not_free():
    port = left_in_time_wait()
    assert not is_free(port)
    assert listener(port) is None


def test_the_owner_is_named_by_its_pid():
    with socket.create_server(("127.0.0.1", 0)) as server:
        owner = listener(server.getsockname()[1])
    assert owner.pid == os.getpid()
    assert f"pid {os.getpid()}" in str(owner)


def test_a_listener_is_not_waited_for():
    clock = Clock()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(LaunchFailed, match=f"pid {os.getpid()}") as failure,
    ):
        wait_until_free([server.getsockname()[1]], clock=clock)
    assert failure.value.cause is LaunchCause.PORT
    assert clock.time == 0.0


def test_time_wait_is_waited_for_and_no_longer_than_said():
    clock = Clock()
    with pytest.raises(LaunchFailed, match="closed connections"):
        wait_until_free([left_in_time_wait()], clock=clock, seconds=75)
    assert 75 <= clock.time < 76


def test_free_ports_cost_no_time():
    assert wait_until_free(choose_free(3), clock=Clock()) == 0.0


def test_chosen_ports_differ_and_lie_outside_the_outgoing_range():
    ports = choose_free(20, seed=1, leases=None)
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    assert len(set(ports)) == 20
    assert all(not low <= port <= high and 1024 <= port <= 65535 for port in ports)
    assert all(map(is_free, ports))


def test_a_host_with_a_wide_outgoing_range_says_that_it_has_no_port(tmp_path: Path):
    (tmp_path / "sys/net/ipv4").mkdir(parents=True)
    (tmp_path / "sys/net/ipv4/ip_local_port_range").write_text("20000\t64990\n")
    with pytest.raises(LaunchFailed, match="free ports"):
        choose_free(30, proc=tmp_path)


def test_a_port_that_another_process_chose_is_not_given_out_before_it_listens(tmp_path):
    """It is bound only when a model has loaded, which takes minutes."""
    leases = tmp_path / "ports"
    code = (
        "from pathlib import Path; from autotune.process.ports import choose_free;"
        f"print(choose_free(2, seed=7, leases=Path({str(leases)!r})), flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        theirs = literal_eval(other.stdout.readline())
        assert not set(theirs) & set(choose_free(2, seed=7, leases=leases))
        other.communicate("\n")
    assert choose_free(2, seed=7, leases=leases) == theirs


def test_ports_are_chosen_also_where_no_lease_can_be_written(tmp_path):
    assert len(choose_free(3, leases=tmp_path / "missing" / "ports")) == 3
