"""OpenAI: POST /v1/chat/completions and /v1/completions."""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from autotune.emulator import parameters, vocabulary
from autotune.emulator.ask import Ask
from autotune.emulator.parameters import invalid
from autotune.emulator.protocols import inputs
from autotune.emulator.protocols.reply import Inquiry, Model, Timing
from autotune.emulator.responses import chunk, dump, event

DONE: Final = chunk(b"data: [DONE]\n\n")
_ROLES: Final = ("system", "user", "assistant", "tool", "developer")


def _finish(reason: str) -> str:
    return "length" if reason == "length" else "stop"


class _OpenAiReply(ABC):
    """What chat and completions share: head, usage, and events of one length."""

    __slots__ = ("_after", "_ask", "_before", "_created", "_model", "_object", "_start", "_timing")

    def __init__(self, ask: Ask, model: Model, now: float, *, kind: str, stream_kind: str) -> None:
        self._ask = ask
        self._model = model
        self._start = ask.prompt_hash
        self._created = int(time.time())
        self._object = kind
        self._timing = Timing()
        self._timing.submitted = now
        text = vocabulary.TEXTS[0]
        sample = dump(self._stream_head(stream_kind) | {"choices": [self._choice(text, None)]})
        before, _, after = f"data: {sample}\n\n".partition(text)
        size = len(before) + len(text) + len(after)
        self._before = f"{size:x}\r\n{before}".encode()
        self._after = f"{after}\r\n".encode()

    def _stream_head(self, kind: str) -> dict[str, Any]:
        return {"id": self._ask.identity, "object": kind, "created": self._created, "model": self._model.name}

    @abstractmethod
    def _choice(self, text: str, finish: str | None) -> dict[str, Any]:
        """The one choice of an event with this text."""

    def begun(self, waited: float) -> None:
        """Note how long the request was queued."""
        self._timing.begun(waited)

    def token(self, position: int, moment: float, batch: int) -> bytes:
        """One event: only the token's text differs from the last one's."""
        self._timing.add(moment, batch)
        return self._before + _ENCODED[(self._start + position) & 255] + self._after

    def _usage(self, tokens: int) -> dict[str, Any]:
        prompt = self._ask.prompt_tokens
        usage: dict[str, Any] = {
            "prompt_tokens": prompt,
            "completion_tokens": tokens,
            "total_tokens": prompt + tokens,
        }
        if self._model.benchmark:
            usage["batch_size"] = self._timing.batches
            usage["queue_wait_time"] = self._timing.waits
        return usage

    def _last(self, position: int, reason: str, kind: str) -> dict[str, Any]:
        text = vocabulary.token_text(self._start, position)
        body = self._stream_head(kind)
        if self._model.full_text and kind == CHAT_CHUNK:
            body["full_text"] = vocabulary.reply_text(self._start, position + 1)
        return body | {"usage": self._usage(position + 1), "choices": [self._choice(text, _finish(reason))]}


CHAT_CHUNK: Final = "chat.completion.chunk"
COMPLETION: Final = "text_completion"
_ENCODED: Final[tuple[bytes, ...]] = tuple(text.encode() for text in vocabulary.TEXTS)


class ChatReply(_OpenAiReply):
    """An answer of the chat interface; a stream begins with a chunk that only names the role."""

    __slots__ = ()

    def __init__(self, ask: Ask, model: Model, now: float) -> None:
        super().__init__(ask, model, now, kind="chat.completion", stream_kind=CHAT_CHUNK)

    def _choice(self, text: str, finish: str | None) -> dict[str, Any]:
        delta = {"role": "assistant", "content": text}
        return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}

    def token(self, position: int, moment: float, batch: int) -> bytes:
        """One event; the first is preceded by the role."""
        written = super().token(position, moment, batch)
        return self._role() + written if position == 0 else written

    def _role(self) -> bytes:
        return event(self._stream_head(CHAT_CHUNK) | {"choices": [self._choice("", None)]})

    def last(self, position: int, moment: float, batch: int, reason: str) -> bytes:
        """The last token with the finish reason and the usage, then [DONE]."""
        self._timing.add(moment, batch)
        written = event(self._last(position, reason, CHAT_CHUNK)) + DONE
        return self._role() + written if position == 0 else written

    def whole(self, tokens: int, reason: str) -> str:
        """The whole answer."""
        message = {
            "role": "assistant",
            "content": vocabulary.reply_text(self._start, tokens),
            "tool_calls": [],
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reason)}
        answer = self._stream_head(self._object) | {"choices": [choice], "usage": self._usage(tokens)}
        if self._model.benchmark:
            answer |= {"prefill_time": self._timing.prefill, "decode_time_arr": self._timing.decode}
        return dump(answer)


class CompletionReply(_OpenAiReply):
    """An answer of the completions interface."""

    __slots__ = ()

    def __init__(self, ask: Ask, model: Model, now: float) -> None:
        super().__init__(ask, model, now, kind=COMPLETION, stream_kind=COMPLETION)

    def _choice(self, text: str, finish: str | None) -> dict[str, Any]:
        return {"index": 0, "text": text, "logprobs": None, "stop_reason": None, "finish_reason": finish}

    def last(self, position: int, moment: float, batch: int, reason: str) -> bytes:
        """The last token with the finish reason and the usage, then [DONE]."""
        self._timing.add(moment, batch)
        return event(self._last(position, reason, COMPLETION)) + DONE

    def whole(self, tokens: int, reason: str) -> str:
        """The whole answer."""
        choice = self._choice(vocabulary.reply_text(self._start, tokens), _finish(reason))
        return dump(self._stream_head(COMPLETION) | {"choices": [choice], "usage": self._usage(tokens)})


def _check_model(body: Mapping[str, Any], model: Model, missing: str) -> None:
    name = body.get("model")
    if name is None:
        raise invalid("Request contains not model or model null")
    if not isinstance(name, str):
        raise invalid("Request param model must be string")
    if not name:
        raise invalid("Request param model must be not empty")
    if name != model.name:
        raise invalid(missing)


def _ask(body: Mapping[str, Any], model: Model, identity: str, prompt: inputs.Prompt) -> Ask:
    parameters.check_sampling(body, zero_temperature=True)
    _check_choices(body)
    wanted = parameters.max_tokens(body, parameters.max_tokens({"max_tokens": model.max_iter_times}, 1))
    minimum = parameters.integer(body, "min_tokens") or 0
    return Ask(
        identity=identity,
        prompt=prompt.text,
        prompt_tokens=prompt.tokens,
        prompt_hash=prompt.hashed,
        max_tokens=wanted,
        stream=parameters.boolean(body, "stream"),
        exact=parameters.boolean(body, "ignore_eos"),
        min_tokens=minimum,
        seed=parameters.seed(body, prompt.hashed),
    )


def _check_choices(body: Mapping[str, Any]) -> None:
    for name in ("n", "best_of"):
        value = parameters.integer(body, name)
        if value is not None and not 1 <= value <= 128:  # noqa: PLR2004 - the service's own bound
            raise invalid(f"Parameter [{name}] should be in [1, 128], got {value}.")


def read_chat(body: Mapping[str, Any], model: Model, identity: str, *, now: float) -> Inquiry:
    """A request of the chat interface. Raises Rejected."""
    _check_model(body, model, "Model not found")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid("Messages must be a non-empty array")
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            raise invalid("Role in messages is invalid")
    text = "\n".join(_content(message) for message in messages)
    if not text:
        raise invalid(f"Messages len not in (0, {inputs.TEXT_HIGH}], but the length of inputs is 0")
    range_text = "Messages len not in (0, {high}], but the length of inputs is {length}"
    prompt = inputs.text_prompt(text, model, name="Messages", range_text=range_text)
    ask = _ask(body, model, identity, prompt)
    return Inquiry(ask=ask, reply=ChatReply(ask, model, now))


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    if content is None or isinstance(content, str):
        return content or ""
    raise invalid("Content in messages is invalid")


def read_completion(body: Mapping[str, Any], model: Model, identity: str, *, now: float) -> Inquiry:
    """A request of the completions interface. Raises Rejected."""
    _check_model(body, model, "Not found given model, please check modelName in config file.")
    given = body.get("prompt")
    if given is None:
        raise invalid("Contains not prompt or prompt null")
    if isinstance(given, list):
        if not given:
            raise invalid("Prompt array cannot be empty.")
        if not all(isinstance(number, int) and not isinstance(number, bool) for number in given):
            raise invalid("All elements of the prompt array must be integers.")
        prompt = inputs.ids_prompt(given, model)
    elif isinstance(given, str):
        text = (
            "Length of Prompt text should be greater than 0 and less than or equal to {high}, "
            "but got {length}"
        )
        prompt = inputs.text_prompt(given, model, name="Prompt", range_text=text)
    else:
        raise invalid("The type of prompt is abnormal,prompt must be str or integer list.")
    ask = _ask(body, model, identity, prompt)
    return Inquiry(ask=ask, reply=CompletionReply(ask, model, now))
