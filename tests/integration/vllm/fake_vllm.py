"""A stand-in for vLLM's server in tests: its flags, log lines, processes, interfaces and ways to fail.

Lines are those of vLLM 0.32 on CPU. Faults come as JSON in the environment variable FAKE_VLLM.
"""

import ctypes
import json
import os
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KNOWN = {
    "max-num-seqs", "max-num-batched-tokens", "max-model-len", "host", "port", "model", "served-model-name",
    "block-size", "num-gpu-blocks-override", "enforce-eager", "no-enable-prefix-caching",
    "tensor-parallel-size", "disable-uvicorn-access-log", "disable-log-stats", "api-key", "trust-remote-code",
}  # fmt: skip
FAULTS = json.loads(os.environ.get("FAKE_VLLM", "{}"))
BLOCKS, BLOCK_SIZE = 257, 32


def main(argv: list[str]) -> None:
    arguments = Arguments(argv)
    say(f"(APIServer pid={os.getpid()}) INFO 11-30 07:26:30 [utils.py:233] {arguments.shown()}")
    check(arguments)
    server = Server(("" if arguments.text("host") == "0.0.0.0" else arguments.text("host", "127.0.0.1"),
                     arguments.number("port", 8000)), arguments)  # fmt: skip
    engine = start_engine()
    server.engine = engine
    time.sleep(FAULTS.get("start_seconds", 0.1))
    capacity(arguments)
    if FAULTS.get("out_of_memory_at") and arguments.number("max-num-seqs", 128) >= FAULTS["out_of_memory_at"]:
        say(
            "(Worker_TP0 pid=9) ERROR 11-30 07:26:51 [multiproc_executor.py:822] WorkerProc hit an exception."
        )
        say("RuntimeError: NPU out of memory. Tried to allocate 2.57 GiB (NPU 0; 60.96 GiB total capacity)")
        say("RuntimeError: Engine core initialization failed. See root cause above.")
        os.kill(engine, signal.SIGKILL)
        os._exit(1)
    if os.environ.get("PTA_TORCHAIR_DECODE_GEAR_ENABLE") == "1" and not FAULTS.get("keeps_no_graphs"):
        Path(".torchair_cache/graph").write_text(arguments.text("max-num-seqs"))
    if "print" in FAULTS:
        say(FAULTS["print"])
    if "exit" in FAULTS:
        os.kill(engine, signal.SIGKILL)
        os._exit(FAULTS["exit"])
    server.ready = not FAULTS.get("never_ready")
    signal.signal(signal.SIGTERM, server.on_term)
    threading.Thread(target=server.watch_engine, daemon=True).start()
    say("INFO:     Application startup complete.")
    server.serve_forever(poll_interval=0.02)


class Arguments:
    def __init__(self, argv: list[str]) -> None:
        self.values: dict[str, str] = {}
        self.model = ""
        words = list(argv)
        while words:
            word = words.pop(0)
            if not word.startswith("--"):
                self.model = word
                continue
            name, equals, value = word[2:].partition("=")
            name = name.replace("_", "-")
            if name not in KNOWN:
                say("usage: vllm serve [model_tag] [options]")
                say(f"vllm: error: unrecognized arguments: {' '.join([word, *words])}")
                os._exit(2)
            if not equals and words and not words[0].startswith("--"):
                value = words.pop(0)
            self.values[name] = value
        self.model = self.values.get("model", self.model)

    @property
    def tokens(self) -> int:
        return self.number("num-gpu-blocks-override", BLOCKS) * self.number("block-size", BLOCK_SIZE)

    def number(self, name: str, default: int) -> int:
        return int(self.values.get(name, default))

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def shown(self) -> str:
        values = {
            key.replace("-", "_"): int(value) if value.isdecimal() else value
            for key, value in self.values.items()
        }
        return f"non-default args: {{'model_tag': {self.model!r}, {str(values)[1:]}"


def check(arguments: Arguments) -> None:
    seqs, tokens = arguments.number("max-num-seqs", 128), arguments.number("max-num-batched-tokens", 2048)
    if seqs < 1:
        leave("pydantic_core._pydantic_core.ValidationError: 1 validation error for SchedulerConfig",
              "max_num_seqs", "  Input should be greater than or equal to 1")  # fmt: skip
    if tokens < seqs:
        leave("pydantic_core._pydantic_core.ValidationError: 1 validation error for SchedulerConfig",
              f"  Value error, max_num_batched_tokens ({tokens}) must be greater than or equal to "
              f"max_num_seqs ({seqs}).")  # fmt: skip
    if not Path(arguments.model).is_dir():
        leave("huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot")
    length = arguments.number("max-model-len", 1024)
    if arguments.tokens < length:
        say(
            f"ValueError: To serve at least one request with the model's max seq len ({length}), (0.0 GiB KV "
            "cache is needed, which is larger than the available KV cache memory (0.0 GiB)."
        )
        leave(
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
        )


def capacity(arguments: Arguments) -> None:
    tokens, length = arguments.tokens, arguments.number("max-model-len", 1024)
    say(
        f"(EngineCore pid=1) INFO 11-30 07:26:50 [kv_cache_utils.py:2327] CPU KV cache size: {tokens:,} "
        f"tokens, Maximum concurrency for {length:,} tokens per request: {tokens / length:.2f}x"
    )


def start_engine() -> int:
    """EngineCore with a worker below it; they outlive a parent that is killed, as those of vLLM do."""
    pid = os.fork()
    if pid:
        return pid
    title("VLLM::EngineCore")
    worker = os.fork()
    if worker == 0:
        title("VLLM::Worker")
        while True:
            time.sleep(60)

    def on_term(_number, _frame) -> None:
        os.kill(worker, signal.SIGKILL)
        os._exit(0)

    signal.signal(signal.SIGTERM, on_term)
    while not os.waitpid(worker, os.WNOHANG)[0]:
        time.sleep(0.05)
    os._exit(1)


def title(name: str) -> None:
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, arguments: Arguments) -> None:
        self.arguments = arguments
        self.engine = 0
        self.ready = False
        self.lock = threading.Lock()
        self.slots = threading.Semaphore(arguments.number("max-num-seqs", 128))
        self.running = self.waiting = self.generated = 0
        try:
            super().__init__(address, Handler)
        except OSError as error:
            leave(
                "Traceback (most recent call last):", f"OSError: [Errno {error.errno}] Address already in use"
            )

    def handle_error(self, request, client_address) -> None:
        pass

    def engine_lives(self) -> bool:
        try:
            return os.waitpid(self.engine, os.WNOHANG)[0] == 0
        except ChildProcessError:
            return False

    def watch_engine(self) -> None:
        """Leave with exit code 0 when the engine dies, as vLLM does, or never notice."""
        while self.engine_lives() or FAULTS.get("never_notices"):
            time.sleep(0.05)
        say("EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.")
        say("RuntimeError: Executor failed.")
        os._exit(0)

    def on_term(self, _number, _frame) -> None:
        if FAULTS.get("ignores_term"):
            say("Waiting for connections to close. (CTRL+C to force quit)")
            return
        os.kill(self.engine, signal.SIGTERM)
        os._exit(0)

    def metrics(self) -> str:
        blocks = self.arguments.number("num-gpu-blocks-override", BLOCKS)
        size = self.arguments.number("block-size", BLOCK_SIZE)
        label = 'engine="0",model_name="tiny"'
        info = (
            f'block_size="{size}",num_gpu_blocks="{blocks}",kv_cache_size_tokens="{blocks * size}",engine="0"'
        )
        return "\n".join((
            "# HELP vllm:num_requests_running Number of requests in model execution batches.",
            f"vllm:num_requests_running{{{label}}} {float(self.running)}",
            f"vllm:num_requests_waiting{{{label}}} {float(self.waiting)}",
            f"vllm:kv_cache_usage_perc{{{label}}} {min(1.0, self.running / 32)}",
            f"vllm:num_preemptions_total{{{label}}} 0.0",
            f"vllm:generation_tokens_total{{{label}}} {float(self.generated)}",
            f"vllm:cache_config_info{{{info}}} 1.0",
        ))  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_args) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/health":
            self.reply(200 if self.server.ready else 503, "")
        elif self.path == "/metrics" and "disable-log-stats" not in self.server.arguments.values:
            self.reply(200, self.server.metrics())
        else:
            self.reply(404, "{}")

    def do_POST(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.server.arguments.text("api-key")
        if key and self.headers.get("Authorization") != f"Bearer {key}":
            self.reply(401, '{"error": "Unauthorized"}')
            return
        if FAULTS.get("never_notices") and not self.server.engine_lives():
            time.sleep(120)
            return
        tokens = document.get("max_tokens", 16)
        self.wait_for_slot()
        try:
            self.generate(document, tokens)
        finally:
            with self.server.lock:
                self.server.running -= 1
            self.server.slots.release()

    def wait_for_slot(self) -> None:
        with self.server.lock:
            self.server.waiting += 1
        self.server.slots.acquire()
        with self.server.lock:
            self.server.waiting -= 1
            self.server.running += 1

    def generate(self, document: dict, tokens: int) -> None:
        usage = {"prompt_tokens": 4, "completion_tokens": tokens}
        if not document.get("stream"):
            self.count(tokens)
            text = {"text": ["x"]} if self.path == "/generate" else {
                "choices": [{"text": " x", "finish_reason": "length"}], "usage": usage}  # fmt: skip
            self.reply(200, json.dumps(text))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in range(tokens):
            time.sleep(FAULTS.get("token_seconds", 0.002))
            self.count(1)
            finish = "length" if number == tokens - 1 else None
            self.event({"choices": [{"index": 0, "text": " x", "finish_reason": finish}]})
        self.event({"choices": [], "usage": usage})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def count(self, tokens: int) -> None:
        with self.server.lock:
            self.server.generated += tokens

    def event(self, document: dict) -> None:
        self.chunk(b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\n\n")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def reply(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


def say(text: str) -> None:
    print(text, flush=True)


def leave(*lines: str) -> None:
    for line in lines:
        say(line)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[2:] if sys.argv[1:2] == ["serve"] else sys.argv[1:])
