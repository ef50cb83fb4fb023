"""Control plane: short questions to a running service, past every proxy and without leaving TIME_WAIT."""

import socket
import ssl
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Any, final

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection

from autotune.engines.tls import Tls
from autotune.errors import LaunchCause, LaunchFailed, Refused

SECONDS = 5.0
OK = 200
NO_LINGER = struct.pack("ii", 1, 0)
"""Value of SO_LINGER with which a close resets the connection."""


class _ResettingAdapter(HTTPAdapter):
    """Closes with a reset, once a reply is read.

    The service closes first after many replies, so its port would stay in TIME_WAIT for a minute, and its
    next start, which binds without SO_REUSEADDR, would have to wait. A reset spares it that.
    """

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._context = context
        super().__init__()

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any
    ) -> None:
        options = [*HTTPConnection.default_socket_options, (socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)]
        pool_kwargs |= {"socket_options": options, "ssl_context": self._context}
        super().init_poolmanager(connections, maxsize, block, **pool_kwargs)


def client_context(tls: Tls) -> ssl.SSLContext:
    """Make the context of a client that always verifies. Raises Refused when a file does not serve."""
    hint = "give PEM files that belong together; tls.password_file for an encrypted key"
    try:
        context = ssl.create_default_context(cafile=str(tls.ca))
        if tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key, password=lambda: _password(tls))
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(str(path) for path in (tls.ca, tls.cert, tls.key) if path)
        raise Refused(f"the certificates {files} cannot be used: {error}", hint=hint) from error
    return context


def _password(tls: Tls) -> str:
    """Never asked on a terminal: a background process would wait there for ever."""
    if tls.password_file is None:
        raise Refused(f"the key {tls.key} is encrypted", hint="name its password in tls.password_file")
    lines = tls.password_file.read_text(encoding="utf-8").splitlines()
    return lines[0] if lines else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """Status and body of an answer."""

    status: int
    body: str

    @property
    def ok(self) -> bool:
        """Whether the status is 200."""
        return self.status == OK


@final
class ControlPlane:
    """Asks a service; not for load."""

    def __init__(self, tls: Tls | None = None) -> None:
        context = client_context(tls) if tls else None
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.verify = str(tls.ca) if tls else True
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, _ResettingAdapter(context))

    def __enter__(self) -> "ControlPlane":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def get(self, url: str, *, seconds: float = SECONDS) -> Reply | None:
        """GET; None when nobody answers in time. Raises LaunchFailed when the certificates do not fit."""
        return self._ask("GET", url, None, seconds)

    def post(self, url: str, document: object, *, seconds: float = SECONDS) -> Reply | None:
        """POST a JSON document; as `get`."""
        return self._ask("POST", url, document, seconds)

    def _ask(self, method: str, url: str, document: object, seconds: float) -> Reply | None:
        try:
            reply = self._session.request(method, url, json=document, timeout=seconds, allow_redirects=False)
        except requests.RequestException as error:
            if _is_final(error):
                message = f"the TLS connection to {url} fails: {error}"
                raise LaunchFailed(LaunchCause.CONFIG, message, lines=(message,)) from error
            return None
        return Reply(status=reply.status_code, body=reply.text)


def _is_final(error: requests.RequestException) -> bool:
    """Whether waiting will not help: a certificate that is not trusted, or a client that is not."""
    text = str(error)
    return "CERTIFICATE_VERIFY_FAILED" in text or "_ALERT_" in text
