"""Triton with text: POST /v2/models/{model}/generate and /generate_stream; it reports its own times."""

import re
from collections.abc import Mapping
from typing import Any, Final

from autotune.emulator import parameters, vocabulary
from autotune.emulator.ask import Ask
from autotune.emulator.parameters import invalid
from autotune.emulator.protocols import inputs
from autotune.emulator.protocols.reply import Inquiry, Model, Timing
from autotune.emulator.responses import chunk, dump

_IDENTITY: Final = re.compile(r"[a-zA-Z0-9_-]{1,256}")
_RANGE: Final = (
    "text_input must be necessary and data type must be string and length in (0, {high}], "
    "but the length of inputs is {length}"
)


def identity_of(body: Mapping[str, Any], identity: str) -> str:
    """The id of a request: the client's own where it gives one. Raises Rejected."""
    given = body.get("id")
    if given is None:
        return identity
    if not isinstance(given, str):
        raise invalid("id must be string type.")
    if not _IDENTITY.fullmatch(given):
        raise invalid(
            "The id can contain only digits, letters, underscores(_), hyphens(-) and "
            "no more than 256 words in length."
        )
    return given


class TritonReply:
    """An answer in Triton's form; `data:` without a blank after it."""

    __slots__ = ("_ask", "_full_text", "_lead", "_model", "_start", "_timing")

    def __init__(self, ask: Ask, model: Model, now: float) -> None:
        self._ask = ask
        self._model = model
        self._full_text = model.full_text
        self._start = ask.prompt_hash
        self._timing = Timing()
        self._timing.submitted = now
        lead = dump({"id": ask.identity, "model_name": model.name, "model_version": None})
        self._lead = f"data:{lead[:-1]},"

    def begun(self, waited: float) -> None:
        """Note how long the request was queued."""
        self._timing.begun(waited)

    def token(self, position: int, moment: float, batch: int) -> bytes:
        """One event."""
        return self._event(position, moment, batch, "")

    def last(self, position: int, moment: float, batch: int, reason: str) -> bytes:
        """The last event says why it is the last."""
        return self._event(position, moment, batch, reason)

    def _event(self, position: int, moment: float, batch: int, reason: str) -> bytes:
        milliseconds = self._timing.add(moment, batch)
        if self._full_text:
            text = vocabulary.reply_text(self._start, position + 1)
        else:
            text = vocabulary.token_text(self._start, position)
        if not self._ask.details:
            return chunk(f'{self._lead}"text_output":"{text}"}}\n\n'.encode())
        finish = f'"finish_reason":"{reason}",' if reason else ""
        times = f"{milliseconds}" if position == 0 else "null"
        decode = "null" if position == 0 else f"{milliseconds}"
        return chunk(
            (
                f'{self._lead}"text_output":"{text}","details":{{{finish}"generated_tokens":{position + 1},'
                f'"first_token_cost":null,"decode_cost":null,"batch_size":{batch},"queue_wait_time":{self._timing.waits[-1]}}},'
                f'"prefill_time":{times},"decode_time":{decode}}}\n\n'
            ).encode()
        )

    def whole(self, tokens: int, reason: str) -> str:
        """The whole answer."""
        answer: dict[str, Any] = {
            "id": self._ask.identity,
            "model_name": self._model.name,
            "model_version": None,
            "text_output": vocabulary.reply_text(self._start, tokens),
        }
        if self._ask.details:
            answer["details"] = {
                "finish_reason": reason,
                "generated_tokens": tokens,
                "first_token_cost": None,
                "decode_cost": None,
                "batch_size": self._timing.batches,
                "queue_wait_time": self._timing.waits,
            }
        return dump(answer)


def read(body: Mapping[str, Any], model: Model, identity: str, *, stream: bool, now: float) -> Inquiry:
    """A request of either route. Raises Rejected."""
    identity = identity_of(body, identity)
    if body.get("text_input") is None:
        raise invalid("The text_input not found")
    prompt = inputs.text_prompt(body["text_input"], model, name="text_input", range_text=_RANGE)
    values = parameters.parameters_of(body)
    parameters.check_sampling(values)
    parameters.priority(values)
    parameters.batch_size(values)
    ask = Ask(
        identity=identity,
        prompt=prompt.text,
        prompt_tokens=prompt.tokens,
        prompt_hash=prompt.hashed,
        max_tokens=parameters.max_new_tokens(values),
        stream=stream,
        exact=inputs.ignores_end(body, values),
        details=parameters.boolean(values, "details"),
        seed=parameters.seed(values, prompt.hashed),
        timeout=parameters.timeout(values),
    )
    return Inquiry(ask=ask, reply=TritonReply(ask, model, now))
