"""Streams: server-sent events in chunks, as the load client's connection takes them, however they are cut."""

import asyncio
import itertools
import json
from contextlib import suppress

from autotune.load.client.connection import Connection
from autotune.load.client.families import api_of
from autotune.load.client.framing import document_of, payload, split_events
from autotune.load.client.message import Message
from autotune.load.client.recorder import Recorder
from tests.fuzz.choices import Choices, steered
from tests.fuzz.target import Target, words_of

APIS = ("openai-chat", "openai", "tgi", "triton", "vllm", "mindie-infer", "triton-tokens")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"
WORDS = words_of("streams")


class _Holder:
    def __init__(self) -> None:
        self.ended = 0

    def reply_ended(self, connection: Connection, *, reusable: bool) -> None:
        del connection, reusable
        self.ended += 1


class _Transport(asyncio.Transport):
    """Takes what is written; closes nothing."""

    def write(self, data: object) -> None:
        """Nothing is sent."""

    def abort(self) -> None:
        """Nothing is open."""

    def get_extra_info(self, name: str, default: object = None) -> object:
        """The socket is this object too."""
        return self if name == "socket" else default

    def setsockopt(self, *values: object) -> None:
        """Nothing to set."""

    def fileno(self) -> int:
        """No file of the host."""
        return -1


def _fed(api: str, parts: list[bytes], *, streaming: bool) -> tuple[Recorder, _Holder]:
    recorder, holder = Recorder(bucket_seconds=1e9, slice_seconds=1e9), _Holder()
    recorder.begin(0.0)
    connection = Connection(holder, recorder, api_of(api))
    connection.connection_made(_Transport())
    recorder.issued()
    connection.send(Message(data=b"x", asked_tokens=8, ignore_eos=True, streaming=streaming), 0.0)
    for part in parts:
        connection.data_received(part)
    connection.connection_lost(None)
    return recorder, holder


def _hold(recorder: Recorder, holder: _Holder) -> None:
    good = len(recorder.columns.end)
    assert holder.ended == 1, "a reply ends once"
    assert good + sum(recorder.failed.values()) == 1
    assert (recorder.in_flight, recorder.running) == (0, 0)
    assert len(recorder.gaps) == max(0, recorder.events - 1)


def feed_any(data: bytes) -> None:
    """Whatever comes, the reply ends once: as good, short or failed; nothing stays counted as running."""
    choices = Choices(data)
    api, streaming = choices.one(APIS), choices.whole(0, 3) > 0
    pieces = choices.whole(1, 6)
    cuts = sorted(choices.whole(0, 4096) for _ in range(pieces))
    body = choices.rest()
    edges = [0, *[cut for cut in cuts if cut < len(body)], len(body)]
    parts = [body[a:b] for a, b in itertools.pairwise(edges) if b > a]
    _hold(*_fed(api, parts, streaming=streaming))


def _event(choices: Choices, api: str) -> bytes:
    text = "w" * choices.whole(0, 3)
    document: dict[str, object] = {
        "openai-chat": {"choices": [{"delta": {"content": text}, "finish_reason": None}]},
        "openai": {"choices": [{"text": text, "finish_reason": None}]},
        "tgi": {"token": {"text": text}, "generated_text": None, "details": None},
        "vllm": {"text": [text]},
    }.get(api, {"text_output": text})
    data = json.dumps(document, separators=(",", ":") if choices.whole(0, 1) else None).encode()
    if api == "vllm":
        return data + b"\0"
    kind = choices.whole(0, 9)
    if kind == 0:
        return b": ping\n\n"
    end = b"\r\n\r\n" if kind == 1 else b"\n\n"
    return b"data: " + data + end


def cut_any(data: bytes) -> None:
    """The count and the verdict do not depend on how the bytes are cut, nor on the chunks."""
    choices = Choices(data)
    api = choices.one(APIS[:5])
    events = [_event(choices, api) for _ in range(choices.whole(1, 12))]
    if api != "vllm" and choices.whole(0, 1):
        events.append(b"data: [DONE]\n\n")
    group = choices.whole(1, 3)
    groups = [b"".join(events[at : at + group]) for at in range(0, len(events), group)]
    stream = HEAD + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in groups) + b"0\r\n\r\n"
    if choices.whole(0, 3) == 0:
        stream = stream[: choices.whole(0, len(stream))]
    cuts = sorted({choices.whole(0, len(stream)) for _ in range(choices.whole(0, 8))})
    edges = [0, *cuts, len(stream)]
    parts = [stream[a:b] for a, b in itertools.pairwise(edges) if b > a]
    whole, _ = _fed(api, [stream] if stream else [], streaming=True)
    cut, holder = _fed(api, parts, streaming=True)
    _hold(cut, holder)
    assert cut.events == whole.events
    assert cut.failed == whole.failed
    assert list(cut.columns.events) == list(whole.columns.events)
    assert list(cut.columns.short) == list(whole.columns.short)


def frame_any(data: bytes) -> None:
    """No byte of an event is lost, and a document is an object or nothing."""
    for end in (b"\n\n", b"\0"):
        events, tail = split_events(data, end)
        assert sum(map(len, events)) + len(tail) <= len(data)
        for event in (*events, tail):
            found = document_of(payload(event))
            assert found is None or isinstance(found, dict)
            for api in APIS:
                with suppress(RecursionError):
                    json.dumps(found)
                if found is not None:
                    api_of(api).event(found)
                    api_of(api).full(found)


def _seeds() -> list[bytes]:
    openai = b'data: {"choices":[{"text":"a","finish_reason":null}]}\n\n'
    choices = b'{"choices":[{"text":"","finish_reason":"length"}],"usage":{"completion_tokens":8}}'
    last = b"data: " + choices + b"\n\ndata: [DONE]\n\n"
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (openai, openai, last)) + b"0\r\n\r\n"
    bodies = (
        HEAD + chunks,
        PLAIN + b'{"choices":[{"text":"a b c d e f g h"}]}',
        BUSY,
        HEAD + b"3\r\nabc\r\n",
        b"",
    )
    return [steered(api, 1, 1, 0, 90, 0, 200, body=body) for api in range(len(APIS)) for body in bodies]


STREAMS = Target(
    name="replies of any bytes",
    law="each ends once, good, short or failed; nothing stays running",
    check=feed_any,
    seeds=_seeds,
    words=WORDS,
)
CUTS = Target(
    name="streams cut anywhere",
    law="count and verdict do not depend on the cuts",
    check=cut_any,
    seeds=lambda: [bytes([api, *range(seed, seed + 60)]) for api in range(5) for seed in range(0, 100, 20)],
)
FRAMES = Target(
    name="events of a stream",
    law="no byte is made up; an object or nothing",
    check=frame_any,
    seeds=lambda: [seed[7:] for seed in _seeds()],
    words=WORDS,
)
