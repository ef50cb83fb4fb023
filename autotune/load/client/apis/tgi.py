"""TGI: /generate_stream and /generate, as MindIE and text-generation-inference serve them."""

from dataclasses import dataclass
from typing import Any

from autotune.load.client.api import SSE_END, Ask, EventFacts, error_of, present, section, whole


@dataclass(frozen=True, kw_only=True, slots=True)
class Tgi:
    """The last event carries the last token and `details`."""

    name: str = "tgi"
    end: bytes = SSE_END
    ordinary: tuple[bytes, ...] = (b'"details":null', b'"details": null')
    leads_in: bool = False
    tells_finish: bool = True
    keeps_ignore_eos: bool = False

    def path(self, model: str, *, streaming: bool) -> str:
        """Streams have a path of their own."""
        del model
        return "/generate_stream" if streaming else "/generate"

    def document(self, ask: Ask) -> dict[str, Any]:
        """`details` asks for the server's own counts."""
        parameters = present(
            max_new_tokens=ask.output_tokens,
            details=True,
            do_sample=ask.sampling.do_sample,
            **ask.sampling.values(),
        )
        return {"inputs": ask.prompt.text, "parameters": parameters}

    def event(self, document: dict[str, Any]) -> EventFacts:
        """A token; on the last one also why and how much."""
        details = section(document, "details")
        finish = details.get("finish_reason")
        return EventFacts(
            token=isinstance(document.get("token"), dict),
            finish=finish if isinstance(finish, str) and finish else None,
            tokens=whole(details.get("generated_tokens")),
            prompt_tokens=whole(details.get("prompt_tokens")),
            final=bool(details),
            error=error_of(document),
        )

    def full(self, document: dict[str, Any]) -> EventFacts:
        """Details and the text in one piece; some servers wrap it in a list."""
        details = section(document, "details")
        finish = details.get("finish_reason")
        prefill = details.get("prefill")
        told = whole(details.get("prompt_tokens"))
        return EventFacts(
            token=isinstance(document.get("generated_text"), str),
            finish=finish if isinstance(finish, str) and finish else None,
            tokens=whole(details.get("generated_tokens")),
            prompt_tokens=len(prefill) or None if told is None and isinstance(prefill, list) else told,
            final=bool(details),
            error=error_of(document),
        )
