"""Control: short questions to a running vLLM server, past every proxy."""

from types import TracebackType
from typing import final

import requests

from autotune.engines.session import SECONDS, Reply, open_session
from autotune.engines.tls import Tls
from autotune.engines.vllm.entry import Interface


@final
class Control:
    """Asks one server; not for load, and for one thread. Raises Refused for certificates that don't serve."""

    def __init__(self, url: str, *, tls: Tls | None = None, api_key: str | None = None) -> None:
        self._url = url
        self._session = open_session(tls)
        if api_key is not None:
            self._session.headers["Authorization"] = f"Bearer {api_key}"

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
        return self.complete(interface, model, tokens=1, seconds=seconds)

    def complete(self, interface: Interface, model: str, *, tokens: int, seconds: float) -> Reply | None:
        """Ask for generated tokens; None when nobody answers in time."""
        document: dict[str, object] = {"prompt": "1", "max_tokens": tokens, "temperature": 0.0}
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
