"""A connection fed by hand: however the bytes are cut, the count is the same."""

import itertools
import json
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.load.client.connection import Connection
from autotune.load.client.families import api_of
from autotune.load.client.message import Message
from autotune.load.client.recorder import Recorder

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Holder:
    def __init__(self):
        self.ended = []

    def reply_ended(self, connection, *, reusable):
        self.ended.append(reusable)


class Transport:
    def __init__(self):
        self.written = []

    def write(self, data):
        self.written.append(data)

    def abort(self):
        pass

    def get_extra_info(self, name):
        return self if name == "socket" else None

    def setsockopt(self, *values):
        pass

    def fileno(self):
        return -1


def connected(api: str, *, asked: int = 8, ignore_eos: bool = False, streaming: bool = True):
    recorder, holder = Recorder(bucket_seconds=1e9, slice_seconds=1e9), Holder()
    recorder.begin(0.0)
    connection = Connection(holder, recorder, api_of(api))
    connection.connection_made(Transport())
    recorder.issued()
    message = Message(data=b"x", asked_tokens=asked, ignore_eos=ignore_eos, streaming=streaming)
    connection.send(message, 0.0)
    return connection, recorder, holder


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def line(document, end=b"\n\n") -> bytes:
    data = json.dumps(document).encode()
    return data + end if end == b"\0" else b"data: " + data + end


def completion(text, finish=None):
    return line({"choices": [{"index": 0, "text": text, "finish_reason": finish}]})


USAGE = line({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 8}})
DONE = b"data: [DONE]\n\n"
OPENAI = [completion(f"w{i} é" * (i % 3 + 1)) for i in range(7)] + [completion("end", "length"), USAGE, DONE]
TGI = [line({"token": {"text": "a" * i}, "generated_text": None, "details": None}) for i in range(7)] + [
    line(
        {
            "token": {"text": "z"},
            "generated_text": "all",
            "details": {"finish_reason": "length", "generated_tokens": 8, "prompt_tokens": 5},
        }
    )
]
VLLM = [line({"text": ["a" * i + "x"]}, b"\0") for i in range(8)]
REPLIES = {"openai": OPENAI, "tgi": TGI, "vllm": VLLM}


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % len(data) for place in places}), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges) if b > a]


@given(
    st.sampled_from(sorted(REPLIES)),
    st.lists(st.integers(0, 5000), max_size=25),
    st.integers(1, 4),
    st.booleans(),
)
def test_the_count_does_not_depend_on_how_the_bytes_are_cut(api, places, events_a_chunk, crlf):
    events = REPLIES[api]
    if crlf:
        events = [event.replace(b"\n", b"\r\n") for event in events]
    groups = [events[i : i + events_a_chunk] for i in range(0, len(events), events_a_chunk)]
    data = HEAD + b"".join(chunk(b"".join(group)) for group in groups) + b"0\r\n\r\n"
    connection, recorder, holder = connected(api)
    for part in cut(data, places):
        connection.data_received(part)
    assert holder.ended == [True]
    assert recorder.events == 8
    assert (len(recorder.columns.end), sum(recorder.columns.short), recorder.failed) == (1, 0, {})
    assert recorder.columns.events[0] == 8
    assert len(recorder.gaps) == 7
    assert (recorder.in_flight, recorder.running) == (0, 0)


@given(st.lists(st.integers(0, 5000), max_size=15))
def test_two_replies_on_one_connection_do_not_run_into_each_other(places):
    data = HEAD + b"".join(chunk(event) for event in OPENAI) + b"0\r\n\r\n"
    connection, recorder, holder = connected("openai")
    for _ in range(2):
        for part in cut(data, places):
            connection.data_received(part)
        recorder.issued()
        connection.send(Message(data=b"x", asked_tokens=8, ignore_eos=False, streaming=True), 0.0)
    assert holder.ended == [True, True]
    assert recorder.events == 16


@given(st.integers(1, 10_000), st.sampled_from(sorted(REPLIES)))
def test_a_stream_that_is_cut_anywhere_before_its_last_event_is_no_success(place, api):
    whole = HEAD + b"".join(chunk(event) for event in REPLIES[api][:7])
    connection, recorder, holder = connected(api)
    connection.data_received(whole[: place % len(whole) or 1])
    connection.connection_lost(None)
    assert len(holder.ended) == 1
    assert sum(recorder.failed.values()) == 1
    assert len(recorder.columns.end) == 0
    assert (recorder.in_flight, recorder.running) == (0, 0)


def test_every_ordinary_event_takes_the_short_way():
    connection, recorder, _ = connected("openai", asked=400)
    connection.data_received(HEAD + chunk(completion("first")))
    connection._parser = None  # whatever goes the long way now is not counted
    for number in range(300):
        connection.data_received(chunk(completion("w" * (number % 50))))
    assert recorder.events == 301


@pytest.mark.parametrize(
    "odd",
    [
        completion("a") + completion("b"),
        completion("a") + b": ping\n\n",
        completion("end", "length"),
        USAGE,
    ],
)
def test_nothing_else_takes_the_short_way(odd):
    connection, recorder, _ = connected("openai")
    connection.data_received(HEAD + chunk(completion("first")))
    before = recorder.events
    connection.data_received(chunk(odd))
    assert recorder.events - before == odd.count(b'"text"')


def test_comments_and_the_role_are_no_tokens():
    connection, recorder, _ = connected("openai-chat")
    role = line({"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]})
    word = line({"choices": [{"delta": {"content": "a"}, "finish_reason": None}]})
    last = line({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    body = b"".join(chunk(event) for event in (b": ping\n\n", role, word, word, last, DONE)) + b"0\r\n\r\n"
    connection.data_received(HEAD + body)
    assert recorder.events == 2
    assert len(recorder.columns.end) == 1


def test_reasoning_counts_as_text():
    connection, recorder, _ = connected("openai-chat")
    thought = line({"choices": [{"delta": {"reasoning_content": "hm"}, "finish_reason": None}]})
    connection.data_received(HEAD + chunk(thought))
    assert recorder.events == 1


def test_a_natural_end_at_once_has_no_first_token():
    connection, recorder, _ = connected("openai")
    body = chunk(completion("", "stop")) + chunk(DONE) + b"0\r\n\r\n"
    connection.data_received(HEAD + body)
    assert isnan(recorder.columns.first[0])


@pytest.mark.parametrize(
    ("phase", "now", "cause"),
    [("sent", 11.0, "first_token_timeout"), ("streaming", 6.0, "stall"), ("sent", 101.0, "timeout")],
)
def test_each_phase_has_its_own_patience(phase, now, cause):
    connection, recorder, holder = connected("openai")
    sent = connection.last_used
    if phase == "streaming":
        connection.data_received(HEAD + chunk(completion("first")))
    connection.overdue(sent + now, first_seconds=10.0, stall_seconds=5.0, total_seconds=100.0)
    assert recorder.failed == {cause: 1}
    assert holder.ended == [False]


def test_a_server_that_sends_more_after_the_end_is_not_counted():
    connection, recorder, _ = connected("openai")
    data = HEAD + b"".join(chunk(event) for event in OPENAI) + b"0\r\n\r\n"
    connection.data_received(data)
    connection.data_received(chunk(completion("more")))
    assert recorder.events == 8


def test_one_chunk_with_two_kinds_of_line_ends_holds_two_events():
    connection, recorder, _ = connected("openai")
    connection.data_received(HEAD + chunk(completion("first")))
    connection.data_received(chunk(completion("a").replace(b"\n", b"\r\n") + completion("b")))
    assert recorder.events == 3


def test_a_token_count_that_no_reply_has_is_not_a_count():
    connection, recorder, holder = connected("openai", asked=1)
    absurd = line({"choices": [], "usage": {"prompt_tokens": 10**30, "completion_tokens": 10**30}})
    body = chunk(completion("a", "length")) + chunk(absurd) + chunk(DONE) + b"0\r\n\r\n"
    connection.data_received(HEAD + body)
    assert holder.ended == [True]
    assert list(recorder.columns.tokens) == [-1]


def test_an_event_that_is_nested_too_deeply_is_a_complaint():
    connection, recorder, _ = connected("openai")
    deep = b'data: {"choices":' + b"[" * 100_000 + b"\n\n"
    connection.data_received(HEAD + chunk(deep) + b"0\r\n\r\n")
    assert sum(recorder.failed.values()) == 1


ONE_TOKEN = {
    "openai-chat": {"choices": [{"delta": {"content": "a"}, "finish_reason": None}]},
    "openai": {"choices": [{"text": "a", "finish_reason": None}]},
    "tgi": {"token": {"id": 1, "text": "a"}, "generated_text": None, "details": None},
}
ROLE = {"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}


@pytest.mark.parametrize("api", ONE_TOKEN)
def test_what_was_learnt_from_one_reply_does_not_mislead_the_next(api):
    connection, recorder, holder = connected(api, asked=3)
    lead = chunk(line(ROLE)) if api == "openai-chat" else b""
    token = chunk(line(ONE_TOKEN[api]))
    if api == "tgi":
        ending = {**ONE_TOKEN[api], "details": {"finish_reason": "length", "generated_tokens": 3}}
        last = chunk(line(ending))
    else:
        choice = {**ONE_TOKEN[api]["choices"][0], "finish_reason": "length"}
        last = chunk(line({"choices": [choice]})) + chunk(b"data: [DONE]\n\n")
    reply = HEAD + lead + token + token + last + b"0\r\n\r\n"
    refusal = b"HTTP/1.1 500 Oops\r\nContent-Length: 30\r\n\r\n" + line(ONE_TOKEN["openai"])[:30].ljust(30)
    for number, data in enumerate((reply, refusal, reply, reply)):
        if number:
            recorder.issued()
            message = Message(data=b"x", asked_tokens=3, ignore_eos=False, streaming=True)
            connection.send(message, 0.0)
        connection.data_received(data)
    assert holder.ended == [True] * 4
    assert recorder.failed == {"http_500": 1}
    assert list(recorder.columns.events) == [3, 3, 3]
    assert recorder.events == 9
