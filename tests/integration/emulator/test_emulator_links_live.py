"""What connections beyond maxLinkNum see: a place in the queue, then a close without an answer."""

import asyncio
import json
import socket
from contextlib import ExitStack

import pytest

BODY = json.dumps({"inputs": "x", "parameters": {"max_new_tokens": 512}, "ignore_eos": True}).encode()
REQUEST = b"POST /generate_stream HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


def ask(stack: ExitStack, port: int, request: bytes = REQUEST) -> socket.socket:
    link = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
    link.sendall(request)
    return link


def closed_without_answer(link: socket.socket) -> bool:
    try:
        return link.recv(100) == b""
    except ConnectionError:
        return True


def test_with_two_workers_four_more_wait_and_the_seventh_is_closed(start):
    daemon = start(max_link_num=2, time_scale=2.0).wait_ready()
    with ExitStack() as stack:
        working = [ask(stack, daemon.options.port) for _ in range(2)]
        for link in working:
            assert link.recv(12) == b"HTTP/1.1 200"
        waiting = [ask(stack, daemon.options.port) for _ in range(4)]
        seventh = ask(stack, daemon.options.port)
        assert closed_without_answer(seventh)
        for link in waiting:
            link.settimeout(0.0)
            with pytest.raises(BlockingIOError):
                link.recv(1)
        working[0].close()
        waiting[0].settimeout(30)
        assert waiting[0].recv(12) == b"HTTP/1.1 200"


def test_management_has_workers_of_its_own(start):
    daemon = start(max_link_num=1, time_scale=2.0).wait_ready()
    with ExitStack() as stack:
        for _ in range(3):
            ask(stack, daemon.options.port)
        assert daemon.get(f"{daemon.management}/health").status_code == 200


def test_an_idle_connection_is_closed_after_five_seconds(start):
    daemon = start().wait_ready()
    with socket.create_connection(("127.0.0.1", daemon.options.port), timeout=12) as link:
        assert link.recv(1) == b""


def test_nonsense_is_answered_with_400(start):
    daemon = start().wait_ready()
    with ExitStack() as stack:
        assert ask(stack, daemon.options.port, b"what is this\r\n\r\n").recv(12) == b"HTTP/1.1 400"


async def _many(port: int, count: int, *, at_work: int, too_many: int) -> tuple[int, int, int]:
    """Open so many connections with a request each; how many were answered, wait, and were closed.

    It looks until as many are answered and closed as are expected, and a little longer.
    """

    class Link(asyncio.Protocol):
        def __init__(self) -> None:
            self.answered = self.closed = False

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport
            transport.write(REQUEST)

        def data_received(self, data: bytes) -> None:
            self.answered = self.answered or data.startswith(b"HTTP/1.1 200")

        def connection_lost(self, _exc: Exception | None) -> None:
            self.closed = True

    loop = asyncio.get_running_loop()
    links = []
    for _ in range(count):
        _, link = await loop.create_connection(Link, "127.0.0.1", port)
        links.append(link)
    for look in range(200):
        answered = sum(link.answered for link in links)
        closed = sum(link.closed and not link.answered for link in links)
        if look and answered >= at_work and closed >= too_many:
            break
        await asyncio.sleep(0.1)
    for link in links:
        link.transport.abort()
    await asyncio.sleep(0.5)
    return answered, count - answered - closed, closed


@pytest.mark.slow
def test_the_1001st_connection_waits_and_the_3001st_is_closed(start):
    daemon = start(blocks=100_000, time_scale=1.0, start_seconds=0.1, max_batch_size=1000).wait_started()
    answered, waiting, closed = asyncio.run(_many(daemon.options.port, 3005, at_work=1000, too_many=5))
    assert (answered, waiting, closed) == (1000, 2000, 5)
