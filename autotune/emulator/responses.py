"""HTTP responses as bytes, framed as MindIE's server frames them, and the errors of its interfaces."""

import json
from typing import Any, Final

from autotune.errors import AutotuneError

ERROR_TYPES: Final = {
    400: "Bad Request",
    404: "NotFoundError",
    422: "Input Validation Error",
    424: "Generation Error",
    500: "Incomplete Generation",
    503: "Service Unavailable",
}
_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    413: "Payload Too Large",
    422: "Unprocessable Content",
    424: "Failed Dependency",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
JSON: Final = "application/json"
END: Final = b"0\r\n\r\n"
"""The chunk that ends a stream."""


class Rejected(AutotuneError):
    """A request that is answered with an error; the message goes into the body."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def dump(value: Any) -> str:
    """JSON as the daemon prints it: no blanks, keys in the order given, no escapes beyond the needed."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def plain(status: int, body: str = "", *, content_type: str = JSON, request: str = "") -> bytes:
    """A whole response; one without a body carries no content type."""
    payload = body.encode()
    head = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}", "Connection: close"]
    head.append(f"Content-Length: {len(payload)}")
    if payload:
        head.append(f"Content-Type: {content_type}")
    if request:
        head.append(f"RequestUUID: {request}")
    return "\r\n".join([*head, "", ""]).encode() + payload


def error_body(status: int, message: str) -> str:
    """The JSON that explains an error."""
    return dump({"error": message, "error_type": ERROR_TYPES.get(status, "Incomplete Generation")})


def error(status: int, message: str, *, request: str = "") -> bytes:
    """A whole error response."""
    return plain(status, error_body(status, message), request=request)


def stream_head(request: str) -> bytes:
    """The head of an event stream; it goes out as soon as the request is taken, before any token."""
    return (
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n"
        f"RequestUUID: {request}\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode()


def chunk(payload: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(payload), payload)


def event(value: Any, *, lead: str = "data: ") -> bytes:
    """One server-sent event with a JSON value, as one HTTP chunk."""
    return chunk(f"{lead}{dump(value)}\n\n".encode())
