"""vLLM: POST /generate with `prompt`; the pieces of a stream are JSON objects that end with a NUL."""

from collections.abc import Mapping
from typing import Any, Final

from autotune.emulator import parameters, vocabulary
from autotune.emulator.ask import Ask
from autotune.emulator.parameters import invalid
from autotune.emulator.protocols import inputs
from autotune.emulator.protocols.reply import Inquiry, Model
from autotune.emulator.responses import chunk, dump


def _piece(text: str) -> bytes:
    return chunk(dump({"text": [text]}).encode() + b"\0")


_PIECES: Final[tuple[bytes, ...]] = tuple(_piece(text) for text in vocabulary.TEXTS)
_RANGE: Final = (
    "Prompt must be necessary and data type must be string and length in (0, {high}], "
    "but the length of inputs is {length}"
)


class VllmReply:
    """An answer in vLLM's form: no ids, no counts, no finish reason."""

    __slots__ = ("_ask", "_full_text", "_start")

    def __init__(self, ask: Ask, model: Model) -> None:
        self._ask = ask
        self._full_text = model.full_text
        self._start = ask.prompt_hash

    def begun(self, waited: float) -> None:
        """Nothing of it is told."""

    def token(self, position: int, _moment: float, _batch: int) -> bytes:
        """One piece; with fullTextEnabled it repeats all that came before."""
        if self._full_text:
            return _piece(vocabulary.reply_text(self._start, position + 1))
        return _PIECES[(self._start + position) & 255]

    def last(self, position: int, moment: float, batch: int, _reason: str) -> bytes:
        """The last piece looks like every other."""
        return self.token(position, moment, batch)

    def whole(self, tokens: int, _reason: str) -> str:
        """The prompt, a blank and the answer."""
        return dump({"text": [f"{self._ask.prompt} {vocabulary.reply_text(self._start, tokens)}"]})


def read(body: Mapping[str, Any], model: Model, identity: str) -> Inquiry:
    """A request with a prompt. Raises Rejected."""
    if body.get("prompt") is None:
        raise invalid("Contains not prompt or prompt null")
    prompt = inputs.text_prompt(body["prompt"], model, name="Prompt", range_text=_RANGE)
    parameters.check_sampling(body, zero_temperature=True)
    if body.get("model") is not None and not isinstance(body["model"], str):
        raise invalid("Model must be string type.")
    ask = Ask(
        identity=identity,
        prompt=prompt.text,
        prompt_tokens=prompt.tokens,
        prompt_hash=prompt.hashed,
        max_tokens=parameters.max_tokens(body, model.vllm_default_tokens),
        stream=parameters.boolean(body, "stream"),
        exact=parameters.boolean(body, "ignore_eos"),
        min_tokens=parameters.integer(body, "min_tokens") or 0,
        seed=parameters.seed(body, prompt.hashed),
    )
    return Inquiry(ask=ask, reply=VllmReply(ask, model))
