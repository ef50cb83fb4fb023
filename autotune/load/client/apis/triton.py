"""Triton: text over /v2/models/M/generate_stream, token ids over /v2/models/M/infer."""

from dataclasses import dataclass
from typing import Any

from autotune.load.client.api import SSE_END, Ask, EventFacts, error_of, present, section, whole


@dataclass(frozen=True, kw_only=True, slots=True)
class Triton:
    """Text in, text out; each event carries `text_output` and details."""

    name: str = "triton"
    end: bytes = SSE_END
    ordinary: tuple[bytes, ...] = (b'"finish_reason":null', b'"finish_reason": null', b'"finish_reason":""')
    leads_in: bool = False
    tells_finish: bool = True
    keeps_ignore_eos: bool = False

    def path(self, model: str, *, streaming: bool) -> str:
        """Streams have a path of their own."""
        return f"/v2/models/{model}/{'generate_stream' if streaming else 'generate'}"

    def document(self, ask: Ask) -> dict[str, Any]:
        """`details` asks for finish reason and counts."""
        parameters = present(
            max_new_tokens=ask.output_tokens,
            details=True,
            do_sample=ask.sampling.do_sample,
            **ask.sampling.values(),
        )
        return {"id": ask.prompt.identity or "1", "text_input": ask.prompt.text, "parameters": parameters}

    def event(self, document: dict[str, Any]) -> EventFacts:
        """A piece of text; the last one has a finish reason."""
        details = section(document, "details")
        finish = details.get("finish_reason")
        ended = isinstance(finish, str) and bool(finish)
        return EventFacts(
            token="text_output" in document,
            finish=finish if ended else None,
            tokens=whole(details.get("generated_tokens")) if ended else None,
            prompt_tokens=whole(details.get("prompt_tokens")),
            final=ended,
            error=error_of(document),
        )

    def full(self, document: dict[str, Any]) -> EventFacts:
        """The same places in one piece."""
        return self.event(document)


@dataclass(frozen=True, kw_only=True, slots=True)
class TritonTokens:
    """Token ids in and out; the reply comes in one piece."""

    name: str = "triton-tokens"
    end: bytes = SSE_END
    ordinary: tuple[bytes, ...] = ()
    leads_in: bool = False
    tells_finish: bool = False
    keeps_ignore_eos: bool = False

    def path(self, model: str, *, streaming: bool) -> str:
        """There is no stream of token ids."""
        del streaming
        return f"/v2/models/{model}/infer"

    def document(self, ask: Ask) -> dict[str, Any]:
        """One tensor of shape [1, n]."""
        ids = list(ask.prompt.token_ids)
        parameters = present(
            max_new_tokens=ask.output_tokens, do_sample=ask.sampling.do_sample, **ask.sampling.values()
        )
        tensor = {"name": "input0", "shape": [1, len(ids)], "datatype": "UINT32", "data": ids}
        return {
            "id": ask.prompt.identity or "1",
            "inputs": [tensor],
            "outputs": [{"name": "output0"}],
            "parameters": parameters,
        }

    def event(self, document: dict[str, Any]) -> EventFacts:
        """Not streamed; read as a whole reply."""
        return self.full(document)

    def full(self, document: dict[str, Any]) -> EventFacts:
        """Generated ids are the data of the first output."""
        outputs = document.get("outputs")
        first = outputs[0] if isinstance(outputs, list) and outputs else {}
        data = first.get("data") if isinstance(first, dict) else None
        count = len(data) if isinstance(data, list) else None
        return EventFacts(token=bool(count), tokens=count, final=count is not None, error=error_of(document))
