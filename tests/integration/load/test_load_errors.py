"""Failures: each under its own cause, none read as a success, none lost, and what did arrive still counts."""

import socket
import threading
from contextlib import contextmanager, suppress

import pytest

from autotune.load.client.plan import Patience
from autotune.load.ends import ForRequests, ForSeconds
from autotune.load.load_test import run_load_test
from autotune.model.measurement import InvalidReason

FAST = ("--first-ms", "5", "--step-ms", "4")
FAULTS = ("--cut", "20", "--http500", "20", "--reset", "20", "--short", "20")


def causes(reading):
    return {one.cause: one.count for one in reading.failed}


@pytest.mark.parametrize("connection", [(), ("--close",)], ids=["keep-alive", "closed"])
@pytest.mark.parametrize("ending", ["chunked", "close"])
@pytest.mark.parametrize("api", ["openai", "openai-chat", "tgi", "triton"])
def test_each_failure_has_its_own_count(api, ending, connection, mock, make_test, make_workload):
    with mock(*FAST, *FAULTS, "--ending", ending, *connection) as server:
        test = make_test(
            server, api, end=ForRequests(count=400), concurrency=40, workload=make_workload(ignore_eos=True)
        )
        reading = run_load_test(test)
        truth = server.truth()
    assert causes(reading) == {"cut": 20, "http_500": 20, "reset": 20}
    assert reading.short_replies == truth["short"] == 20
    assert (reading.completed, reading.requests) == (320, 400)
    assert reading.output_tokens == truth["tokens"]
    assert reading.fault.reason is InvalidReason.REQUESTS_FAILED


@pytest.mark.slow
@pytest.mark.real_time
@pytest.mark.parametrize("ending", ["chunked", "close"])
def test_the_speed_of_what_arrived_stays_right(ending, mock, make_test, make_workload):
    with mock("--first-ms", "20", "--step-ms", "20", *FAULTS, "--ending", ending) as server:
        test = make_test(
            server, "openai", end=ForRequests(count=300), concurrency=60, workload=make_workload(output=60)
        )
        reading = run_load_test(test)
        truth = server.truth()
    assert reading.tokens_per_second == pytest.approx(truth["steady_tokens_per_second"], rel=0.05)


@pytest.mark.parametrize("connection", [(), ("--close",)], ids=["keep-alive", "closed"])
@pytest.mark.parametrize("ending", ["chunked", "close"])
def test_a_stalled_reply_is_given_up_and_counted(ending, connection, mock, make_test):
    with mock(*FAST, "--stall", "20", "--ending", ending, *connection) as server:
        test = make_test(server, patience=Patience(stall=1.0), concurrency=20)
        reading = run_load_test(test)
    assert causes(reading) == {"stall": 2}
    assert reading.completed == 38


def test_a_server_that_never_answers_is_given_up_by_its_own_cause(mock, make_test):
    with mock("--first-ms", "60000") as server:
        test = make_test(server, end=ForRequests(count=8), patience=Patience(first_token=1.0))
        reading = run_load_test(test)
    assert causes(reading) == {"first_token_timeout": 8}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--close",), ("--ending", "close")], ids=["keep-alive", "closed", "no chunks"]
)
def test_a_server_that_dies_ends_the_test_with_no_number(options, mock, make_test):
    with mock(*FAST, "--die-after", "100", *options) as server:
        reading = run_load_test(make_test(server, end=ForSeconds(seconds=60)))
    assert reading.fault.reason is InvalidReason.SERVICE_DIED
    assert reading.requests == reading.completed + sum(causes(reading).values()) + reading.short_replies
    assert reading.completed <= 100
    assert reading.test_seconds < 20


def test_a_port_where_nothing_listens_is_told_without_a_number(mock, make_test):
    with mock(*FAST) as server:
        server.kill()
        reading = run_load_test(make_test(server))
    assert reading.fault.reason is InvalidReason.SERVICE_DIED
    assert f"nothing listens at 127.0.0.1:{server.port}" in reading.fault.detail


@contextmanager
def answering(reply: bytes, *, drip: bool = False):
    """A server that sends the same bytes to everybody and closes; `drip` sends them one by one."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                connection.recv(65536)
                with suppress(OSError):  # a client that has seen enough hangs up
                    for part in (reply[at : at + 1] for at in range(len(reply))) if drip else (reply,):
                        connection.sendall(part)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
TOKEN = b'data: {"choices":[{"text":"a","finish_reason":null}]}\n\n'


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (b"garbage\r\n\r\n", "bad_reply"),
        (HEAD, "cut"),
        (b"", "unanswered"),
        (HEAD + TOKEN, "cut"),
        (HEAD + TOKEN + b'data: {"choices":[{"text":"a","fini', "cut"),
        (HEAD + TOKEN + b"Engine callback timeout: no reply\n\n", "cut"),
        (HEAD + b'data: {"error":{"message":"out of memory"}}\n\ndata: [DONE]\n\n', "error_in_reply"),
        (b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\nbusy", "http_503"),
        (b"HTTP/1.1 424 Generation Error\r\nContent-Length: 17\r\n\r\n" + b'{"error":"no npu"', "http_424"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n" + TOKEN, "cut"),
        (b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", "http_302"),
        (b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", "http_204"),
        (HEAD + b": still here\n\n: still here\n\n", "cut"),
        (HEAD + b'data: {"choices": 7}\n\n', "cut"),
        (HEAD + b'data: ["no object"]\n\ndata: [DONE]\n\n', "error_in_reply"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + b"\x1f\x8b" * 10,
            "error_in_reply",
        ),
        (b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"a" * 3_000_000 + b"\r\n\r\n", "cut"),
        (HEAD + b"data: " + b"a" * 9_000_000, "bad_reply"),
        (HEAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n") + b"zz\r\n", "bad_reply"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + TOKEN, "cut"),
    ],
)
def test_no_kind_of_broken_reply_is_a_success(reply, cause, make_test):
    with answering(reply) as port:

        class Server:
            pass

        server = Server()
        server.port = port
        reading = run_load_test(make_test(server, concurrency=1, end=ForRequests(count=1)))
    assert causes(reading) == {cause: 1}
    assert reading.completed == 0


LAST = b'data: {"choices":[{"text":"a","finish_reason":"stop"}]}\n\n'


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + TOKEN + LAST,
        HEAD + b": a comment\n\n" + TOKEN + b"event: x\nid: 7\nretry: 9\n\n" + LAST + b"data: [DONE]\n\n",
        HEAD + TOKEN.replace(b"\n\n", b"\r\n\r\n") + LAST.replace(b"\n\n", b"\r\n\r\n"),
        HEAD + TOKEN.replace(b'"a"', '"é中"'.encode()) + LAST,
    ],
    ids=["interim answer", "comments and fields", "CRLF", "wide characters"],
)
@pytest.mark.parametrize("drip", [False, True], ids=["at once", "byte by byte"])
def test_unusual_replies_count_as_they_should(reply, drip, make_test):
    with answering(reply, drip=drip) as port:

        class Server:
            pass

        server = Server()
        server.port = port
        reading = run_load_test(make_test(server, concurrency=1, end=ForRequests(count=1)))
    assert (reading.completed, reading.output_tokens, reading.short_replies) == (1, 2, 0)


def test_a_finish_reason_makes_a_reply_complete_that_only_the_connection_ends(make_test):
    last = b'data: {"choices":[{"text":"a","finish_reason":"stop"}]}\n\n'
    with answering(HEAD + TOKEN + last) as port:

        class Server:
            pass

        server = Server()
        server.port = port
        reading = run_load_test(make_test(server, concurrency=1, end=ForRequests(count=1)))
    assert (reading.completed, reading.output_tokens) == (1, 2)
