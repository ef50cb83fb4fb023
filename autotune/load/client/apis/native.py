"""MindIE's native /infer: {"inputs", "stream", "parameters"}."""

from dataclasses import dataclass
from typing import Any

from autotune.load.client.api import SSE_END, Ask, EventFacts, error_of, present, section, whole


@dataclass(frozen=True, kw_only=True, slots=True)
class MindieInfer:
    """Events carry `token`; the last one `generated_text`."""

    name: str = "mindie-infer"
    end: bytes = SSE_END
    ordinary: tuple[bytes, ...] = (b'"generated_text":null', b'"generated_text": null')
    leads_in: bool = False
    tells_finish: bool = False
    keeps_ignore_eos: bool = False

    def path(self, model: str, *, streaming: bool) -> str:
        """The same for streams and whole replies."""
        del model, streaming
        return "/infer"

    def document(self, ask: Ask) -> dict[str, Any]:
        """`details` asks for the counts where the version has them."""
        parameters = present(
            max_new_tokens=ask.output_tokens,
            details=True,
            do_sample=ask.sampling.do_sample,
            **ask.sampling.values(),
        )
        return {"inputs": ask.prompt.text, "stream": ask.streaming, "parameters": parameters}

    def event(self, document: dict[str, Any]) -> EventFacts:
        """A token; the whole text at the end says that it is the end."""
        details = section(document, "details")
        finish = details.get("finish_reason")
        text = document.get("generated_text")
        return EventFacts(
            token=isinstance(document.get("token"), dict) or bool(details.get("generated_tokens")),
            finish=finish if isinstance(finish, str) and finish else None,
            tokens=whole(details.get("generated_tokens")),
            prompt_tokens=whole(details.get("prompt_tokens")),
            final=isinstance(text, str),
            error=error_of(document),
        )

    def full(self, document: dict[str, Any]) -> EventFacts:
        """The text in one piece."""
        facts = self.event(document)
        return EventFacts(
            token=isinstance(document.get("generated_text"), str),
            finish=facts.finish,
            tokens=facts.tokens,
            prompt_tokens=facts.prompt_tokens,
            final=facts.final,
            error=facts.error,
        )
