"""Descriptors and local ports, from a /proc of the test's own."""

import pytest

from autotune.errors import Refused
from autotune.load.client.capacity import Ports, ensure_capacity, ports_of

HEADER = "  sl  local_address rem_address   st tx_queue\n"


def proc(tmp_path, low=32768, high=60999, resting=0):
    (tmp_path / "sys/net/ipv4").mkdir(parents=True)
    (tmp_path / "net").mkdir()
    (tmp_path / "sys/net/ipv4/ip_local_port_range").write_text(f"{low}\t{high}\n")
    rows = "".join(f"   {i}: 0100007F:{40000 + i:04X} 0100007F:0401 06 00000000\n" for i in range(resting))
    rows += "   9: 0100007F:9C40 0100007F:0402 06 00000000\n   9: 0100007F:9C40 0100007F:0401 01 00000000\n"
    (tmp_path / "net/tcp").write_text(HEADER + rows)
    return tmp_path


def test_ports_that_rest_towards_the_service_are_counted(tmp_path):
    assert ports_of(1025, proc(tmp_path, resting=7)) == Ports(count=28232, resting=7)


def test_too_few_local_ports_are_refused_with_the_command_that_helps(tmp_path):
    with pytest.raises(Refused) as told:
        ensure_capacity(500, 1025, proc=proc(tmp_path, low=50000, high=50099))
    assert "ip_local_port_range" in told.value.hint


def test_ports_that_all_rest_are_refused(tmp_path):
    with pytest.raises(Refused, match="TIME_WAIT"):
        ensure_capacity(95, 1025, proc=proc(tmp_path, low=50000, high=50099, resting=10))


def test_more_connections_than_the_hard_limit_of_files_are_refused(tmp_path):
    with pytest.raises(Refused) as told:
        ensure_capacity(10**9, 1025, proc=proc(tmp_path))
    assert "ulimit -n" in told.value.hint


def test_a_kernel_that_tells_nothing_is_no_reason_to_refuse(tmp_path):
    ensure_capacity(10, 1025, proc=tmp_path)
