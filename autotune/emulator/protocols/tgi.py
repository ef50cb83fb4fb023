"""TGI: POST / , /generate with `inputs`, and /generate_stream."""

from collections.abc import Mapping
from typing import Any, Final

from autotune.emulator import parameters, vocabulary
from autotune.emulator.ask import Ask
from autotune.emulator.parameters import invalid
from autotune.emulator.protocols import inputs
from autotune.emulator.protocols.reply import Inquiry, Model
from autotune.emulator.responses import dump, event


def _token_event(index: int) -> bytes:
    return event(
        {
            **_token(vocabulary.FIRST_ID + index, vocabulary.TEXTS[index]),
            "generated_text": None,
            "details": None,
        }
    )


def _token(number: int, text: str | None) -> dict[str, Any]:
    return {"token": {"id": number, "text": text, "logprob": None, "special": None}}


_EVENTS: Final[tuple[bytes, ...]] = tuple(_token_event(index) for index in range(vocabulary.SIZE))


class TgiReply:
    """An answer in TGI's form; in a list when it was asked at `/`."""

    __slots__ = ("_ask", "_listed", "_start")

    def __init__(self, ask: Ask, *, listed: bool = False) -> None:
        self._ask = ask
        self._listed = listed
        self._start = ask.prompt_hash

    def begun(self, waited: float) -> None:
        """Nothing of it is told."""

    def token(self, position: int, _moment: float, _batch: int) -> bytes:
        """One of 256 events that were built before."""
        return _EVENTS[(self._start + position) & 255]

    def last(self, position: int, _moment: float, _batch: int, reason: str) -> bytes:
        """The last event carries the whole text, and details when they were asked for."""
        tokens = position + 1
        token = _token(
            vocabulary.token_id(self._start, position), vocabulary.token_text(self._start, position)
        )
        details = None
        if self._ask.details:
            details = {
                "prompt_tokens": self._ask.prompt_tokens,
                "finish_reason": reason,
                "generated_tokens": tokens,
                "seed": self._ask.seed,
            }
        return event({**token, "generated_text": self._text(tokens), "details": details})

    def whole(self, tokens: int, reason: str) -> str:
        """The whole answer."""
        answer: dict[str, Any] = {"generated_text": self._text(tokens)}
        if self._ask.details:
            ids = vocabulary.token_ids(self._start, tokens)
            listed = [{"id": number, "logprob": None, "special": None, "text": None} for number in ids]
            answer = {
                "details": {
                    "prompt_tokens": self._ask.prompt_tokens,
                    "finish_reason": reason,
                    "generated_tokens": tokens,
                    "prefill": [],
                    "seed": self._ask.seed,
                    "tokens": listed,
                },
                **answer,
            }
        return dump([answer] if self._listed else answer)

    def _text(self, tokens: int) -> str:
        text = vocabulary.reply_text(self._start, tokens)
        return f"{self._ask.prompt} {text}" if self._ask.full_text else text


def read(
    body: Mapping[str, Any], model: Model, identity: str, *, stream: bool, listed: bool = False
) -> Inquiry:
    """A request of any of the three routes. Raises Rejected."""
    if body.get("inputs") is None:
        raise invalid("Request should contain 'inputs' and the type should be string.")
    prompt = inputs.text_prompt(
        body["inputs"],
        model,
        name="Inputs",
        range_text="Inputs length must be in (0, {high}], but got {length}",
    )
    values = parameters.parameters_of(body)
    parameters.check_sampling(values, open_top_p=True)
    wanted = parameters.max_new_tokens(values)
    prefill = parameters.boolean(values, "decoder_input_details")
    details = parameters.boolean(values, "details")
    if stream and prefill:
        raise invalid("The decoder_input_details must not be true when stream is true.")
    truncate = parameters.integer(values, "truncate")
    if truncate is not None and not 0 < truncate <= parameters.INT32_HIGH:
        raise invalid(f"truncate must be in (0,{parameters.INT32_HIGH}], got {truncate}.")
    ask = Ask(
        identity=identity,
        prompt=prompt.text,
        prompt_tokens=prompt.tokens if truncate is None else min(prompt.tokens, truncate),
        prompt_hash=prompt.hashed,
        max_tokens=wanted,
        stream=stream,
        exact=inputs.ignores_end(body, values),
        details=details or prefill,
        full_text=parameters.boolean(values, "return_full_text"),
        seed=parameters.seed(values, prompt.hashed),
    )
    return Inquiry(ask=ask, reply=TgiReply(ask, listed=listed))
