"""MindIE's own interface: POST /infer with text and /infer_token with token ids."""

from collections.abc import Mapping
from typing import Any, Final

from autotune.emulator import parameters, vocabulary
from autotune.emulator.ask import Ask
from autotune.emulator.parameters import invalid
from autotune.emulator.protocols import inputs
from autotune.emulator.protocols.reply import Inquiry, Model, Timing
from autotune.emulator.responses import chunk, dump, event

_TOKEN_HIGH: Final = 1024 * 1024
_RANGE: Final = (
    "Inputs must be necessary and data type must be string and length in (0, {high}], "
    "but the length of inputs is {length}"
)


class NativeReply:
    """An answer in MindIE's own form; every event tells how long its token took."""

    __slots__ = ("_ask", "_start", "_timing")

    def __init__(self, ask: Ask, now: float) -> None:
        self._ask = ask
        self._start = ask.prompt_hash
        self._timing = Timing()
        self._timing.submitted = now

    def begun(self, waited: float) -> None:
        """Nothing of it is told."""

    def _times(self, position: int, moment: float, batch: int) -> dict[str, int | None]:
        milliseconds = self._timing.add(moment, batch)
        if position == 0:
            return {"prefill_time": milliseconds, "decode_time": None}
        return {"prefill_time": None, "decode_time": milliseconds}

    def token(self, position: int, moment: float, batch: int) -> bytes:
        """One event."""
        milliseconds = self._timing.add(moment, batch)
        times = f'"prefill_time":{milliseconds},"decode_time":null'
        if position:
            times = f'"prefill_time":null,"decode_time":{milliseconds}'
        number = vocabulary.token_id(self._start, position)
        text = vocabulary.token_text(self._start, position)
        return chunk(f'data: {{{times},"token":{{"id":[{number}],"text":"{text}"}}}}\n\n'.encode())

    def last(self, position: int, moment: float, batch: int, reason: str) -> bytes:
        """The last event carries the whole text, and details when they were asked for."""
        tokens = position + 1
        details = None
        if self._ask.details:
            details = {"finish_reason": reason, "generated_tokens": tokens, "seed": self._ask.seed}
        return event(
            {
                **self._times(position, moment, batch),
                "generated_text": vocabulary.reply_text(self._start, tokens),
                "details": details,
                "token": {"id": [vocabulary.token_id(self._start, position)], "text": None},
            }
        )

    def whole(self, tokens: int, reason: str) -> str:
        """The whole answer."""
        answer: dict[str, Any] = {"generated_text": vocabulary.reply_text(self._start, tokens)}
        if self._ask.details:
            answer["details"] = {
                "finish_reason": reason,
                "generated_tokens": tokens,
                "generated_token_ids": vocabulary.token_ids(self._start, tokens),
                "seed": self._ask.seed,
            }
        return dump(answer)


def _prompt(body: Mapping[str, Any], model: Model) -> inputs.Prompt:
    if "inputs" in body and "input_id" in body:
        raise invalid("Input conflict.")
    if "inputs" in body:
        if body["inputs"] is None:
            raise invalid("Inputs must not be null")
        return inputs.text_prompt(body["inputs"], model, name="Inputs", range_text=_RANGE)
    if "input_id" not in body:
        raise invalid("Not found inputs.")
    ids = body["input_id"]
    if ids is None:
        raise invalid("Input_id should not be empty")
    if not isinstance(ids, list):
        raise invalid("Parameter input_id must be an array")
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in ids):
        raise invalid("Parameter input_id must be integer")
    if not all(0 <= number <= _TOKEN_HIGH for number in ids):
        raise invalid("Data element in param input_id is invalid")
    return inputs.ids_prompt(ids, model)


def read(body: Mapping[str, Any], model: Model, identity: str, *, now: float) -> Inquiry:
    """A request of either route. Raises Rejected."""
    prompt = _prompt(body, model)
    values = parameters.parameters_of(body)
    parameters.check_sampling(values, open_top_p=True)
    parameters.priority(values)
    ask = Ask(
        identity=identity,
        prompt=prompt.text,
        prompt_tokens=prompt.tokens,
        prompt_hash=prompt.hashed,
        max_tokens=parameters.max_new_tokens(values),
        stream=parameters.boolean(body, "stream"),
        exact=inputs.ignores_end(body, values),
        details=parameters.boolean(values, "details"),
        seed=parameters.seed(values, prompt.hashed),
        timeout=parameters.timeout(values),
    )
    return Inquiry(ask=ask, reply=NativeReply(ask, now))
