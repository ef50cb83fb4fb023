"""Session: HTTP to the control plane of a service, past every proxy, always verified; for short questions."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection

from autotune.engines.tls import Tls, client_context

SECONDS = 5.0
OK = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """Status and body of an answer."""

    status: int
    body: str

    @property
    def ok(self) -> bool:
        """Whether the status is 200."""
        return self.status == OK


class _Adapter(HTTPAdapter):
    """Shows the client's certificate from a context of our own, over sockets with these options.

    Given the files themselves, requests would ask for the password of an encrypted key on the terminal.
    """

    def __init__(
        self, context: ssl.SSLContext | None, socket_options: Sequence[tuple[int, int, int | bytes]]
    ) -> None:
        self._context = context
        self._socket_options = [*HTTPConnection.default_socket_options, *socket_options]
        super().__init__(max_retries=0)

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any
    ) -> None:
        pool_kwargs |= {"socket_options": self._socket_options, "ssl_context": self._context}
        super().init_poolmanager(connections, maxsize, block, **pool_kwargs)


def open_session(
    tls: Tls | None, *, socket_options: Sequence[tuple[int, int, int | bytes]] = ()
) -> requests.Session:
    """Open a session that the caller closes. Raises Refused for certificates that do not serve."""
    context = client_context(tls) if tls else None
    session = requests.Session()
    session.trust_env = False
    session.verify = str(tls.ca) if tls else True
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(context, socket_options))
    return session
