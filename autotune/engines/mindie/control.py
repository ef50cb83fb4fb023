"""Control plane: short questions to a running service, past every proxy and without leaving TIME_WAIT."""

import socket
from types import TracebackType
from typing import final

import requests

from autotune.engines.session import SECONDS, Reply, open_session
from autotune.engines.tls import Tls
from autotune.errors import LaunchCause, LaunchFailed
from autotune.process.linger import NO_LINGER


@final
class ControlPlane:
    """Asks a service; not for load."""

    def __init__(self, tls: Tls | None = None) -> None:
        self._session = open_session(tls, socket_options=[(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)])

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
