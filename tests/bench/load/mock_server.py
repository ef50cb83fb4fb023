"""A streaming server that knows the truth: fixed event rate, cheap enough to share a small machine.

All streams advance together, every `--step-ms`, as a continuous batch does; between slices of a step it
takes requests in, as the HTTP side of a service does beside its engine. `GET /truth` tells what was really
sent, with `?since=S&until=S` (host's monotonic clock) the latencies of that span only; everything else is an
inference request in the form of its path. Prints its port.
"""

import argparse
import asyncio
import json
import math
import os
import random
import socket
import ssl
import statistics
import sys
import time
from array import array
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl

import httptools
import uvloop

SLICE = 50
"""Streams that advance without a look at what came in: half a millisecond."""
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--first-ms", type=float, default=100.0)
    parser.add_argument("--step-ms", type=float, default=50.0)
    parser.add_argument("--tokens-per-event", type=int, default=1)
    parser.add_argument("--vary", type=float, default=0.0, help="1.0: from half to all of what was asked")
    parser.add_argument("--natural", type=float, default=0.0, help="share that ends by itself, half way")
    parser.add_argument("--ending", choices=("chunked", "close"), default="chunked")
    parser.add_argument("--close", action="store_true", help="Connection: close after every reply")
    parser.add_argument("--cut", type=int, default=0, help="every n-th request is cut half way")
    parser.add_argument("--http500", type=int, default=0)
    parser.add_argument("--reset", type=int, default=0)
    parser.add_argument("--short", type=int, default=0)
    parser.add_argument("--stall", type=int, default=0)
    parser.add_argument("--die-after", type=int, default=0, help="exit after so many requests")
    parser.add_argument("--split", action="store_true", help="every event in two writes")
    parser.add_argument("--lump", type=int, default=1, help="events a write")
    parser.add_argument("--flood", action="store_true", help="the whole reply at once")
    parser.add_argument("--no-counts", action="store_true", help="no usage and no details")
    parser.add_argument("--crlf", action="store_true")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--client-ca")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--capacity", type=int, default=0, help="streams at once; the others wait")
    parser.add_argument("--wander", type=float, default=0.0, help="spread of the speed, AR(1) of 20 s")
    parser.add_argument("--wander-seed", type=int, default=0)
    parser.add_argument("--log-events", help="file for the send times of every event, by peer port")
    return parser.parse_args()


@dataclass
class Truth:
    requests: int = 0
    events: int = 0
    tokens: int = 0
    completed: int = 0
    natural: int = 0
    cut: int = 0
    http500: int = 0
    reset: int = 0
    short: int = 0
    stall: int = 0
    first_request: float = 0.0
    last_event: float = 0.0
    ttft: array = field(default_factory=lambda: array("d"))
    ttft_at: array = field(default_factory=lambda: array("d"))
    gaps: array = field(default_factory=lambda: array("d"))
    gaps_at: array = field(default_factory=lambda: array("d"))
    steps: list = field(default_factory=list)

    def document(self, since: float = 0.0, until: float = float("inf")) -> dict:
        gaps = sorted(gap for gap, at in zip(self.gaps, self.gaps_at, strict=True) if since <= at < until)
        ttft = sorted(wait for wait, at in zip(self.ttft, self.ttft_at, strict=True) if since <= at < until)
        peak = max((active for _, active, _ in self.steps), default=0)
        steady = [place for place, step in enumerate(self.steps) if step[1] >= 0.95 * peak]
        rate = None
        if len(steady) > 1:
            part = self.steps[steady[0] : steady[-1] + 1]
            rate = sum(tokens for _, _, tokens in part[1:]) / (part[-1][0] - part[0][0])
        numbers = {name: value for name, value in vars(self).items() if isinstance(value, int | float)}
        return {
            **numbers,
            "steady_tokens_per_second": rate,
            "tokens_per_step": statistics.fmean(step[2] for step in self.steps[steady[0] : steady[-1] + 1])
            if steady
            else None,
            "ttft_mean_ms": 1000 * sum(ttft) / len(ttft) if ttft else None,
            "ttft_p99_ms": 1000 * ttft[int(0.99 * (len(ttft) - 1))] if ttft else None,
            "gap_mean_ms": 1000 * sum(gaps) / len(gaps) if gaps else None,
            "gap_p99_ms": 1000 * gaps[int(0.99 * (len(gaps) - 1))] if gaps else None,
            "cpu_seconds": time.process_time(),
        }


class Form:
    """How one family of services writes its events."""

    def __init__(self, path: str, body: dict, *, counts: bool) -> None:
        self.counts = counts
        parameters = body.get("parameters") or {}
        self.asked = parameters.get("max_new_tokens") or body.get("max_tokens") or 16
        self.end = b"\n\n"
        self.streaming = body.get("stream", path.endswith("generate_stream"))
        self.prompt = body.get("prompt") or body.get("inputs") or body.get("text_input") or ""
        if path.endswith("/v1/chat/completions"):
            self.kind = "chat"
            self.prompt = body["messages"][-1]["content"]
        elif path.endswith("/v1/completions"):
            self.kind = "completions"
        elif path.endswith("/generate_stream") and "/v2/" in path:
            self.kind = "triton"
        elif path.endswith("/infer") and "/v2/" in path:
            self.kind, self.streaming = "tokens", False
        elif path.endswith("/generate") and "/v2/" in path:
            self.kind, self.streaming = "triton", False
        elif path.endswith("/generate_stream"):
            self.kind = "tgi"
        elif path.endswith("/infer"):
            self.kind = "native"
        elif "prompt" in body:
            self.kind, self.end = "vllm", b"\0"
        else:
            self.kind, self.streaming = "tgi", False
        self.prompt_tokens = len(self.prompt) // 4 + 1

    def text(self, tokens: int) -> str:
        return "word " * tokens

    def event(self, tokens: int, last: str | None, total: int) -> bytes:
        return _line(self.document(tokens, last, total), self.end)

    def document(self, tokens: int, last: str | None, total: int) -> dict:
        text = self.text(tokens)
        details = {"finish_reason": last, "generated_tokens": total, "prompt_tokens": self.prompt_tokens}
        ending = {**details, "finish_reason": "eos_token" if last == "stop" else last, "seed": 1}
        token = {"id": 7, "text": text, "logprob": None, "special": None}
        choice = {"index": 0, "finish_reason": last}
        documents = {
            "chat": {"object": "chat.completion.chunk", "choices": [{**choice, "delta": {"content": text}}]},
            "completions": {"object": "text_completion", "choices": [{**choice, "text": text}]},
            "tgi": {
                "token": token,
                "generated_text": self.text(total) if last else None,
                "details": ending if last and self.counts else None,
            },
            "triton": {"id": "1", "model_name": "m", "text_output": text, "details": details},
            "native": {
                "prefill_time": 1,
                "decode_time": 2,
                "token": {"id": 7, "text": text},
                "generated_text": "all" if last else None,
            },
            "vllm": {"text": [text]},
        }
        return documents[self.kind]

    def lead(self) -> bytes:
        """What comes before the first token."""
        if self.kind != "chat":
            return b""
        delta = {"role": "assistant", "content": ""}
        return _line({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}, self.end)

    def trail(self, total: int) -> bytes:
        """What comes after the last token."""
        if self.kind not in {"chat", "completions"}:
            return b""
        counted = _line({"choices": [], "usage": self.usage(total)}, self.end) if self.counts else b""
        return counted + b"data: [DONE]" + self.end

    def usage(self, total: int) -> dict:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": total,
            "total_tokens": total + self.prompt_tokens,
        }

    def whole(self, last: str, total: int) -> bytes:
        details = {"finish_reason": last, "generated_tokens": total, "prompt_tokens": self.prompt_tokens}
        text, usage = self.text(total), self.usage(total)
        output = {"name": "output0", "shape": [1, total], "datatype": "UINT32", "data": [7] * total}
        message = {"role": "assistant", "content": text}
        document = {
            "chat": {"choices": [{"message": message, "finish_reason": last}], "usage": usage},
            "completions": {"choices": [{"text": text, "finish_reason": last}], "usage": usage},
            "tgi": {"generated_text": text, "details": {**details, "prefill": [], "tokens": []}},
            "triton": {"text_output": text, "details": details},
            "native": {"generated_text": text, "details": details},
            "vllm": {"text": [text]},
            "tokens": {"outputs": [output]},
        }[self.kind]
        return json.dumps(document).encode()


def _line(document: dict, end: bytes) -> bytes:
    data = json.dumps(document, separators=(",", ":")).encode()
    return data + end if end == b"\0" else b"data: " + data + end


class Stream:
    """One reply on its way."""

    __slots__ = (
        "connection",
        "fault",
        "finish",
        "form",
        "last",
        "left",
        "ordinary",
        "received",
        "sent",
        "total",
    )

    def __init__(self, connection, form, total, finish, fault, received):
        self.connection, self.form, self.total = connection, form, total
        self.left, self.sent, self.finish, self.fault = total, 0, finish, fault
        self.received, self.last = received, 0.0
        self.ordinary = connection.ordinary(form) if form.streaming else b""


class Server:
    def __init__(self, options):
        self.options = options
        self.truth = Truth()
        self.active: list[Stream] = []
        self.waiting: list[Stream] = []
        self.log: dict[int, array] = {}
        self.ordinary: dict[str, bytes] = {}
        self.floods: dict[tuple, bytes] = {}

    def admit(self, stream: Stream) -> None:
        capacity = self.options.capacity
        if capacity and len(self.active) >= capacity:
            self.waiting.append(stream)
        else:
            self.active.append(stream)

    async def run(self) -> None:
        step = self.options.step_ms / 1000
        due = time.perf_counter() + step
        pace = wandering(self.options.wander, step, self.options.wander_seed)
        while True:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            due = max(due + step / next(pace), time.perf_counter())
            await self.step()

    async def step(self) -> None:
        now = time.perf_counter()
        tokens_before = self.truth.tokens
        streams, self.active = self.active, []
        working = 0
        for begin in range(0, len(streams), SLICE):
            if begin:
                await asyncio.sleep(0)
            working += self.slice(streams[begin : begin + SLICE], now)
        while self.waiting and len(self.active) < self.options.capacity:
            self.active.append(self.waiting.pop(0))
        if working:
            self.truth.steps.append((now, working, self.truth.tokens - tokens_before))

    def slice(self, streams: list["Stream"], now: float) -> int:
        """Advance some streams; an ordinary event costs one write and a few numbers."""
        options, truth = self.options, self.truth
        first = options.first_ms / 1000 - 1e-4
        size = options.tokens_per_event
        easy = options.lump == 1 and not options.split
        keep, clock, write = self.active.append, time.perf_counter, os.write
        gap, gap_at = truth.gaps.append, truth.gaps_at.append
        working = events = 0
        for stream in streams:
            if not stream.sent and now - stream.received < first:
                keep(stream)
                continue
            working += 1
            connection = stream.connection
            if easy and stream.sent and stream.left > size and not stream.fault and connection.easy():
                data = stream.ordinary
                try:
                    sent = write(connection.fd, data)
                except BlockingIOError:
                    sent = 0
                except OSError:
                    connection.alive = False
                    continue
                if sent < len(data):
                    connection.clogged = True
                    connection.transport.write(data[sent:])
                stream.left -= size
                stream.sent += size
                events += 1
                at = clock()
                gap(at - stream.last)
                gap_at(at)
                stream.last = at
                if connection.log is not None:
                    connection.log.append(at)
                keep(stream)
            elif connection.advance(stream):
                keep(stream)
        if events:
            truth.events += events
            truth.tokens += events * size
            truth.last_event = clock()
        return working


def wandering(spread: float, step: float, seed: int):
    """The speed as a multiple of its mean, one a step: AR(1) with a time constant of 20 s."""
    source = random.Random(f"wander {seed}")
    keep = math.exp(-step / 20.0)
    drift = source.gauss(0.0, spread)
    while True:
        yield max(0.5, 1.0 + drift)
        drift = keep * drift + source.gauss(0.0, spread * math.sqrt(1 - keep * keep))


class Connection(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self.server = server
        self.parser = httptools.HttpRequestParser(self)
        self.body = b""
        self.url = b""

    def connection_made(self, transport) -> None:
        self.transport = transport
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.fd = None if transport.get_extra_info("sslcontext") else sock.fileno()
        self.peer = (transport.get_extra_info("peername") or ("", 0))[1]
        self.alive = True
        self.clogged = False
        self.log = (
            self.server.log.setdefault(self.peer, array("d")) if self.server.options.log_events else None
        )
        self.pending = b""

    def easy(self) -> bool:
        """Whether bytes can go straight to the socket."""
        if self.clogged:
            self.clogged = bool(self.alive and self.transport.get_write_buffer_size())
        return self.alive and not self.clogged and self.fd is not None

    def connection_lost(self, exc) -> None:
        self.alive = False

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self.url = url
        self.body = b""

    def on_body(self, body: bytes) -> None:
        self.body += body

    def write(self, data: bytes) -> None:
        if not self.alive:
            return
        if not self.easy():
            self.transport.write(data)
            return
        try:
            sent = os.write(self.fd, data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self.alive = False
            return
        if sent < len(data):
            self.clogged = True
            self.transport.write(data[sent:])

    def ordinary(self, form: Form) -> bytes:
        """The event of all tokens but the last; the same for all streams of a kind."""
        known = self.server.ordinary
        if form.kind not in known:
            known[form.kind] = self.framed(form.event(self.server.options.tokens_per_event, None, 0))
        return known[form.kind]

    def flush(self) -> None:
        pending, self.pending = self.pending, b""
        if pending:
            self.write(pending)

    def framed(self, data: bytes) -> bytes:
        options = self.server.options
        if options.crlf:
            data = data.replace(b"\n", b"\r\n")
        return data if options.ending == "close" else b"%x\r\n%b\r\n" % (len(data), data)

    def plain(self, status: bytes, body: bytes, *, close: bool) -> None:
        extra = b"Connection: close\r\n" if close else b""
        length = b"" if self.server.options.ending == "close" else b"Content-Length: %d\r\n" % len(body)
        head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\n%b%b\r\n" % (status, length, extra)
        self.write(head + body)
        if close:
            self.transport.close()

    def answered_at_once(self, path: str, query: str) -> bool:
        """Whether it was a question about the server itself, or nothing that it knows."""
        options = self.server.options
        if path.endswith("/truth"):
            span = {name: float(value) for name, value in parse_qsl(query)}
            document = self.server.truth.document(**span)
            self.plain(b"200 OK", json.dumps(document).encode(), close=self.closes())
        elif path.endswith("/health"):
            self.plain(b"200 OK", b"{}", close=self.closes())
        elif not path.startswith(options.prefix) or not self.body:
            self.plain(b"404 Not Found", b'{"error":"no such path"}', close=options.close)
        else:
            return False
        return True

    def on_message_complete(self) -> None:
        server, options = self.server, self.server.options
        path, _, query = self.url.decode().partition("?")
        if self.answered_at_once(path, query):
            return
        truth = server.truth
        truth.requests += 1
        number = truth.requests
        truth.first_request = truth.first_request or time.perf_counter()
        if options.die_after and number > options.die_after:
            os._exit(1)
        form = Form(path, json.loads(self.body), counts=not options.no_counts)
        fault = self.fault_of(number)
        if fault == "http500":
            truth.http500 += 1
            body = b'{"error":"Incomplete Generation","error_type":"Generation Error"}'
            self.plain(b"500 Internal Server Error", body, close=self.closes())
            return
        total, finish = form.asked, "length"
        if options.vary:
            total = max(1, round(total * (1 - 0.5 * options.vary * random.Random(number).random())))
            finish = "length" if total == form.asked else "stop"
        if fault == "short":
            total //= 2
        elif options.natural and random.Random(number).random() < options.natural:
            total, finish = max(1, total // 2), "stop"
            truth.natural += 1
        stream = Stream(self, form, total, finish, fault, time.perf_counter())
        if not form.streaming:
            asyncio.get_running_loop().call_later(options.first_ms / 1000, self.whole, stream)
            return
        if options.flood:
            self.flood(stream)
            return
        server.admit(stream)

    def closes(self) -> bool:
        return self.server.options.close or self.server.options.ending == "close"

    def fault_of(self, number: int) -> str | None:
        options = self.server.options
        for place, name in enumerate(("cut", "http500", "reset", "short", "stall")):
            every = getattr(options, name)
            if every and number % every == place + 1:
                return name
        return None

    def head(self, stream: Stream) -> bytes:
        options = self.server.options
        chunked = b"Transfer-Encoding: chunked\r\n" if options.ending == "chunked" else b""
        close = b"Connection: close\r\n" if self.closes() else b""
        lead = stream.form.lead()
        return STREAM_HEAD + chunked + close + b"\r\n" + (self.framed(lead) if lead else b"")

    def last_words(self, stream: Stream, tokens: int) -> bytes:
        data = stream.form.event(tokens, stream.finish, stream.total) + stream.form.trail(stream.total)
        return self.framed(data) + (b"0\r\n\r\n" if self.server.options.ending == "chunked" else b"")

    def advance(self, stream: Stream) -> bool:
        """One step of one stream; false when it is over."""
        if not self.alive:
            return False
        options, truth = self.server.options, self.server.truth
        if stream.fault in {"cut", "reset", "stall"} and stream.sent and stream.left <= stream.total // 2:
            return self.break_off(stream)
        tokens = min(options.tokens_per_event, stream.left)
        data = self.head(stream) if not stream.sent else b""
        events = 0
        for _ in range(options.lump):
            tokens = min(options.tokens_per_event, stream.left)
            if not tokens:
                break
            stream.left -= tokens
            stream.sent += tokens
            events += 1
            truth.tokens += tokens
            data += stream.ordinary if stream.left else self.last_words(stream, tokens)
        if options.split:
            middle = len(data) - 20
            self.flush()
            self.write(data[:middle])
            self.pending = data[middle:]
            asyncio.get_running_loop().call_later(0.002, self.flush)
        else:
            self.write(data)
        self.note(stream, events)
        if stream.left:
            return True
        self.over(stream)
        return False

    def note(self, stream: Stream, events: int) -> None:
        truth = self.server.truth
        now = time.perf_counter()
        truth.events += events
        truth.last_event = now
        if stream.last:
            truth.gaps.append(now - stream.last)
            truth.gaps_at.append(now)
        else:
            truth.ttft.append(now - stream.received)
            truth.ttft_at.append(now)
        stream.last = now
        if self.log is not None:
            self.log.extend([now] * events)

    def break_off(self, stream: Stream) -> bool:
        truth = self.server.truth
        if stream.fault == "stall":
            if stream.finish != "told":
                truth.stall += 1
                stream.finish = "told"
            return True
        if stream.fault == "cut":
            truth.cut += 1
            self.transport.close()
        else:
            truth.reset += 1
            sock = self.transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.transport.abort()
        return False

    def over(self, stream: Stream) -> None:
        truth = self.server.truth
        if stream.fault == "short":
            truth.short += 1
        else:
            truth.completed += 1
        if self.closes():
            delay = 0.005 if self.server.options.split else 0
            asyncio.get_running_loop().call_later(delay, self.transport.close)

    def whole(self, stream: Stream) -> None:
        truth = self.server.truth
        truth.tokens += stream.total
        now = time.perf_counter()
        truth.ttft.append(now - stream.received)
        truth.ttft_at.append(now)
        self.plain(b"200 OK", stream.form.whole(stream.finish, stream.total), close=self.closes())
        self.over(stream)

    def flood(self, stream: Stream) -> None:
        size = self.server.options.tokens_per_event
        count = max(0, -(-stream.total // size) - 1)
        rest = stream.total - count * size
        self.server.truth.tokens += stream.total
        self.server.truth.events += count + 1
        key = (stream.form.kind, stream.total, stream.finish)
        data = self.server.floods.get(key)
        if data is None:
            data = self.head(stream) + stream.ordinary * count + self.last_words(stream, rest)
            self.server.floods[key] = data
        self.write(data)
        self.server.truth.last_event = time.perf_counter()
        self.over(stream)


def save_log(path: str, log: dict[int, array]) -> None:
    with Path(path).open("wb") as file:
        for peer, times in log.items():
            array("d", [float(peer), float(len(times))]).tofile(file)
            times.tofile(file)


async def main() -> None:
    options = arguments()
    server = Server(options)
    context = None
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
        if options.client_ca:
            context.load_verify_locations(options.client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(
        lambda: Connection(server), options.host, 0, ssl=context, backlog=4096
    )
    print(listening.sockets[0].getsockname()[1], flush=True)
    loop.add_reader(sys.stdin.fileno(), loop.stop)
    try:
        await server.run()
    finally:
        if options.log_events:
            save_log(options.log_events, server.log)


if __name__ == "__main__":
    import gc

    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        uvloop.run(main())
    except (RuntimeError, KeyboardInterrupt):
        sys.exit(0)
