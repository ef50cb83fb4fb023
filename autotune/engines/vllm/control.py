"""Control: short questions to a running vLLM server, past every proxy."""

import ssl
from dataclasses import dataclass
from types import TracebackType
from typing import Any, final

import requests
from requests.adapters import HTTPAdapter

from autotune.engines.mindie.control import client_context
from autotune.engines.tls import Tls
from autotune.engines.vllm.entry import Interface

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
    """Shows the client's certificate from a context of our own.

    Given the files themselves, requests would ask for the password of an encrypted key on the terminal.
    """

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._context = context
        super().__init__(max_retries=0)

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any
    ) -> None:
        pool_kwargs["ssl_context"] = self._context
        super().init_poolmanager(connections, maxsize, block, **pool_kwargs)


@final
class Control:
    """Asks one server; not for load, and for one thread. Raises Refused for certificates that don't serve."""

    def __init__(self, url: str, *, tls: Tls | None = None, api_key: str | None = None) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False
        context = client_context(tls) if tls is not None else None
        self._session.mount("http://", HTTPAdapter(max_retries=0))
        self._session.mount("https://", _Adapter(context))
        if api_key is not None:
            self._session.headers["Authorization"] = f"Bearer {api_key}"
        if tls is not None:
            self._session.verify = str(tls.ca)

    def __enter__(self) -> "Control":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.close()

    def get(self, path: str, *, seconds: float = SECONDS) -> Reply | None:
        """GET; None when nobody answers in time."""
        return self._ask("GET", path, None, seconds)

    def one_token(self, interface: Interface, model: str, *, seconds: float) -> Reply | None:
        """Ask for one generated token; None when nobody answers in time."""
        document: dict[str, object] = {"prompt": "1", "max_tokens": 1, "temperature": 0.0}
        if interface is Interface.GENERATE:
            return self._ask("POST", "/generate", document, seconds)
        return self._ask("POST", "/v1/completions", {"model": model, **document}, seconds)

    def _ask(self, method: str, path: str, document: object, seconds: float) -> Reply | None:
        try:
            reply = self._session.request(
                method, f"{self._url}{path}", json=document, timeout=seconds, allow_redirects=False
            )
        except requests.RequestException:
            return None
        return Reply(status=reply.status_code, body=reply.text)


def has_text(reply: Reply | None) -> bool:
    """Whether a reply is a completion; its text may be empty where a token is no whole character."""
    return reply is not None and reply.ok and '"text"' in reply.body
