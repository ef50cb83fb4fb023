"""vLLM's own /generate: JSON pieces, each ended by a NUL byte or a line end; no finish reason, no count."""

from dataclasses import dataclass
from typing import Any

from autotune.load.client.api import NUL_END, Ask, EventFacts, error_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Vllm:
    """Only the length or the last chunk of the transfer says that a reply is complete."""

    name: str = "vllm"
    end: bytes = NUL_END
    ordinary: tuple[bytes, ...] = (b'"]}',)
    leads_in: bool = False
    tells_finish: bool = False
    keeps_ignore_eos: bool = True

    def path(self, model: str, *, streaming: bool) -> str:
        """The same for streams and whole replies."""
        del model, streaming
        return "/generate"

    def document(self, ask: Ask) -> dict[str, Any]:
        """The prompt and vLLM's sampling names."""
        return {
            "prompt": ask.prompt.text,
            "max_tokens": ask.output_tokens,
            "stream": ask.streaming,
            **ask.sampling.greedy_values(),
        }

    def event(self, document: dict[str, Any]) -> EventFacts:
        """Text so far, or the next piece of it."""
        return EventFacts(token=bool(document.get("text")), error=error_of(document))

    def full(self, document: dict[str, Any]) -> EventFacts:
        """The same in one piece; the text is not counted in tokens by anybody."""
        return EventFacts(token=bool(document.get("text")), final=True, error=error_of(document))
