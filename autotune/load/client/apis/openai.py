"""OpenAI chat and completions, as vLLM and MindIE serve them."""

from dataclasses import dataclass
from typing import Any

from autotune.load.client.api import SSE_END, Ask, EventFacts, error_of, whole

_TEXTS = ("content", "reasoning_content", "reasoning", "tool_calls", "function_call")
_ORDINARY = (b'"finish_reason":null', b'"finish_reason": null')


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenAi:
    """POST /v1/chat/completions or /v1/completions; the stream ends with [DONE]."""

    chat: bool
    end: bytes = SSE_END
    ordinary: tuple[bytes, ...] = _ORDINARY
    tells_finish: bool = True
    keeps_ignore_eos: bool = True

    @property
    def leads_in(self) -> bool:
        """A chat begins with the role alone."""
        return self.chat

    @property
    def name(self) -> str:
        """openai-chat or openai."""
        return "openai-chat" if self.chat else "openai"

    def path(self, model: str, *, streaming: bool) -> str:
        """The same for streams and whole replies."""
        del model, streaming
        return "/v1/chat/completions" if self.chat else "/v1/completions"

    def document(self, ask: Ask) -> dict[str, Any]:
        """Usage is asked for, since its count is the truth."""
        content = _content(ask, chat=self.chat)
        stream = {"stream": True, "stream_options": {"include_usage": True}} if ask.streaming else {}
        return {
            "model": ask.model,
            **content,
            "max_tokens": ask.output_tokens,
            **ask.sampling.greedy_values(),
            **stream,
        }

    def event(self, document: dict[str, Any]) -> EventFacts:
        """A delta, the finish, the usage; the role alone is no token."""
        choice = _first_choice(document)
        finish = choice.get("finish_reason")
        facts = EventFacts(
            token=_has_text(choice),
            finish=finish if isinstance(finish, str) and finish else None,
            error=error_of(document),
        )
        usage = document.get("usage")
        if isinstance(usage, dict):
            facts.tokens = whole(usage.get("completion_tokens"))
            facts.prompt_tokens = whole(usage.get("prompt_tokens"))
        return facts

    def full(self, document: dict[str, Any]) -> EventFacts:
        """The whole reply has the same places."""
        choice = _first_choice(document)
        if "message" in choice:
            document = {**document, "choices": [{**choice, "delta": choice["message"]}]}
        return self.event(document)


def _content(ask: Ask, *, chat: bool) -> dict[str, Any]:
    if chat:
        return {"messages": [{"role": "user", "content": ask.prompt.text}]}
    return {"prompt": list(ask.prompt.token_ids) if ask.prompt.token_ids else ask.prompt.text}


def _first_choice(document: dict[str, Any]) -> dict[str, Any]:
    choices = document.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return {}


def _has_text(choice: dict[str, Any]) -> bool:
    delta = choice.get("delta")
    if isinstance(delta, dict):
        return any(delta.get(name) for name in _TEXTS)
    return bool(choice.get("text"))
