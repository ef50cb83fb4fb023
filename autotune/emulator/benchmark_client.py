"""The load of the stand-in benchmark: a closed loop of Triton streams, times taken from the service."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from autotune.emulator.benchmark_flags import Flags

_SYNTHETIC_REQUESTS = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One finished request. Times in milliseconds as the service reports them."""

    prompt_tokens: int
    prefill_ms: float
    decode_ms: tuple[float, ...]
    batches: tuple[int, ...]
    waits_us: tuple[float, ...]
    text: str

    @property
    def tokens(self) -> int:
        """Generated tokens."""
        return len(self.decode_ms) + 1

    @property
    def total_ms(self) -> float:
        """First byte to last token."""
        return self.prefill_ms + sum(self.decode_ms)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What a run gave."""

    answers: tuple[Answer, ...]
    total: int
    seconds: float
    """First request to last reply, in seconds of the service's own clock."""


def prompts_of(flags: Flags) -> list[str]:
    """The prompts of the data set; a synthetic one, or one that is not there, is made up."""
    folder = Path(flags.dataset_path)
    files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else [folder] if folder.is_file() else []
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    prompts = [_prompt(line) for line in lines]
    if not prompts:
        prompts = [f"request {number} " + "word " * 140 for number in range(_SYNTHETIC_REQUESTS)]
    count = flags.request_count if flags.request_count > 0 else len(prompts)
    return list(islice(cycle(prompts), count))


def _prompt(line: str) -> str:
    try:
        value = json.loads(line)
    except ValueError:
        return line
    if isinstance(value, dict):
        return str(value.get("question") or value.get("prompt") or line)
    return line


async def send_all(flags: Flags, time_scale: float) -> Sent:
    """Send every prompt with the wanted concurrency, after some that do not count."""
    prompts = prompts_of(flags)
    await asyncio.gather(*(_ask(flags, prompt) for prompt in prompts[: flags.warmup_size]))
    waiting = iter(prompts)
    answers: list[Answer] = []
    begin = time.monotonic()
    clients = min(flags.concurrency, len(prompts))
    await asyncio.gather(*(_client(flags, waiting, answers) for _ in range(clients)))
    seconds = (time.monotonic() - begin) * time_scale
    return Sent(answers=tuple(answers), total=len(prompts), seconds=seconds)


async def _client(flags: Flags, waiting: Iterator[str], answers: list[Answer]) -> None:
    for prompt in waiting:
        answer = await _ask(flags, prompt)
        if answer is not None:
            answers.append(answer)


async def _ask(flags: Flags, prompt: str) -> Answer | None:
    """One request; None when it failed."""
    parameters = {"details": True, "max_new_tokens": flags.max_output_len}
    body = json.dumps({"text_input": prompt, "parameters": parameters}).encode()
    place = urlsplit(flags.url)
    head = (
        f"POST /v2/models/{flags.model_name}/generate_stream HTTP/1.1\r\nHost: {place.netloc}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(head.encode() + body)
        raw = await reader.read()
        writer.close()
    except OSError:
        return None
    status, _, content = raw.partition(b"\r\n\r\n")
    if not status.startswith(b"HTTP/1.1 200") or not content.endswith(b"0\r\n\r\n"):
        return None
    return _answer(prompt, content)


def _answer(prompt: str, content: bytes) -> Answer | None:
    events = [_event(line) for line in content.split(b"\r\n") if line.startswith(b"data:")]
    if not events or events[0].get("prefill_time") is None:
        return None
    return Answer(
        prompt_tokens=max(1, -(-len(prompt.encode()) // 4)),
        prefill_ms=float(events[0]["prefill_time"]),
        decode_ms=tuple(float(event["decode_time"]) for event in events[1:]),
        batches=tuple(int(event["details"]["batch_size"]) for event in events),
        waits_us=tuple(float(event["details"]["queue_wait_time"]) for event in events),
        text="".join(str(event["text_output"]) for event in events),
    )


def _event(line: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(line[len(b"data:") :])
    return value
