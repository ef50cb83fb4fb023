"""The outlet: at once where the socket takes it, by the transport where it does not."""

import socket
import struct

import pytest

from autotune.load.client.outlet import Outlet


class Transport:
    """Remembers what it was given to write."""

    def __init__(self, door, *, waiting=0, secure=None):
        self.facts = {"socket": door, "sslcontext": secure}
        self.waiting, self.written = waiting, b""

    def get_extra_info(self, name):
        return self.facts[name]

    def get_write_buffer_size(self):
        return self.waiting

    def write(self, data):
        self.written += data


@pytest.fixture
def ends():
    one, other = socket.socketpair()
    one.settimeout(0.0)
    with one, other:
        yield one, other


def test_what_the_socket_takes_has_left_before_the_loop_goes_on(ends):
    transport = Transport(ends[0])
    Outlet(transport).write(b"POST / HTTP/1.1\r\n")
    assert (ends[1].recv(100), transport.written) == (b"POST / HTTP/1.1\r\n", b"")


def test_what_the_socket_does_not_take_is_left_to_the_transport_in_order(ends):
    transport = Transport(ends[0])
    data = bytes(range(256)) * 16_384
    Outlet(transport).write(data)
    taken = len(data) - len(transport.written)
    assert 0 < taken < len(data)
    assert transport.written == data[taken:]


@pytest.mark.parametrize("state", [{"waiting": 5}, {"secure": object()}], ids=["behind others", "TLS"])
def test_a_transport_that_holds_bytes_back_or_encrypts_them_writes_itself(ends, state):
    transport = Transport(ends[0], **state)
    Outlet(transport).write(b"x")
    assert transport.written == b"x"


def test_a_broken_socket_is_the_transports_affair(ends):
    ends[1].close()
    transport = Transport(ends[0])
    Outlet(transport).write(b"x")
    assert transport.written == b"x"


def test_it_closes_with_a_reset_so_that_no_port_stays_in_time_wait(ends):
    Outlet(Transport(ends[0]))
    assert ends[0].getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8) == struct.pack("ii", 1, 0)
