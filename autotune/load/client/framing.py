"""Framing: events out of the bytes of a stream, wherever the reads were cut."""

import json
from typing import Any

from autotune.load.client.api import NUL_END

_DONE = b"[DONE]"
_scan = json.JSONDecoder().raw_decode


def split_events(data: bytes, end: bytes) -> tuple[list[bytes], bytes]:
    """Whole events, and the tail that waits for more."""
    if data.endswith(end) and data.count(end) == 1 and b"\r" not in data:
        return [data[: -len(end)]], b""
    if b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    if end == NUL_END and end not in data and b"}\n" in data:
        end = b"\n"
    *events, tail = data.split(end)
    return [event for event in events if event.strip()], tail


def payload(event: bytes) -> bytes:
    """The data of a server-sent event, or the event itself where there is no `data:`."""
    if event.startswith(b"data: {") and b"\n" not in event:
        return event[6:]
    stripped = event.strip()
    if stripped.startswith(b"data:") and b"\n" not in stripped:
        return stripped[5:].strip()
    lines = stripped.split(b"\n")
    data = [line[5:].strip() for line in lines if line.startswith(b"data:")]
    if data:
        return b"\n".join(data)
    return b"" if all(line.startswith((b":", b"event:", b"id:", b"retry:")) for line in lines) else stripped


def is_done(data: bytes) -> bool:
    """Whether this is the sign that the stream is complete."""
    return data == _DONE


def document_of(data: bytes) -> dict[str, Any] | None:
    """The JSON object, or None when it is none; a list of one object counts as the object."""
    try:
        text = data.decode().lstrip()
        value, end = _scan(text)
    except (ValueError, RecursionError):
        return None
    if end != len(text) and text[end:].strip():
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else None


def chunk_heads(longest: int) -> tuple[bytes, ...]:
    """By the bytes of a read: how it begins when it is exactly one chunk; a NUL where it can't be one."""
    heads = [b"\0"] * longest
    for size in range(1, longest):
        head = b"%x\r\n" % size
        whole = len(head) + size + 2
        if whole < longest:
            heads[whole] = head
    return tuple(heads)
