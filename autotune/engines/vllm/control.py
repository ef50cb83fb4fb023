"""Control: short questions to a running vLLM server, past every proxy."""

from dataclasses import dataclass
from types import TracebackType
from typing import final

import requests
from requests.adapters import HTTPAdapter

from autotune.engines.mindie.options import Tls
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


@final
class Control:
    """Asks one server; not for load, and for one thread."""

    def __init__(self, url: str, *, tls: Tls | None = None, api_key: str | None = None) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=0))
        if api_key is not None:
            self._session.headers["Authorization"] = f"Bearer {api_key}"
        if tls is not None:
            self._session.verify = str(tls.ca)
            if tls.cert is not None:
                self._session.cert = (str(tls.cert), str(tls.key)) if tls.key else str(tls.cert)

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
