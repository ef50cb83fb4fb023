"""Reply: the bytes of one answer in one interface's framing; and what every interface needs to know."""

from dataclasses import dataclass
from typing import Protocol

from autotune.emulator.ask import Ask


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """What the interfaces need to know of the service."""

    name: str
    max_input_tokens: int
    truncation: bool
    max_iter_times: int
    vllm_default_tokens: int
    """max_tokens of the vLLM interface where a request does not say."""
    full_text: bool
    """fullTextEnabled: every event of some interfaces repeats the text so far."""
    benchmark: bool
    """MINDIE_LLM_BENCHMARK_ENABLE: usage carries batch sizes and waiting times."""
    seed: int


class Reply(Protocol):
    """Writes one answer. `moment` is a time of the service's clock in seconds."""

    def begun(self, waited: float) -> None:
        """The prefill has begun, this many seconds after the request came."""

    def token(self, position: int, moment: float, batch: int) -> bytes:
        """The chunk of a token that is not the last; `batch` is the size of its round."""

    def last(self, position: int, moment: float, batch: int, reason: str) -> bytes:
        """The chunks of the last token, without the one that ends the stream."""

    def whole(self, tokens: int, reason: str) -> str:
        """The body of an answer that is not streamed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inquiry:
    """A request that passed the checks of its interface: what it asks, and how it is answered."""

    ask: Ask
    reply: Reply


class Timing:
    """Times that some interfaces report with every token; filled as the tokens come."""

    __slots__ = ("_last", "batches", "decode", "prefill", "submitted", "waits")

    def __init__(self) -> None:
        self.submitted = 0.0
        self.prefill = 0
        """Milliseconds from submission to the first token."""
        self.decode: list[int] = []
        """Milliseconds between tokens."""
        self.batches: list[int] = []
        self.waits: list[int] = []
        """Microseconds before each token in which the request was not worked on."""
        self._last = 0.0

    def begun(self, waited: float) -> None:
        """Note how long the request was queued."""
        self.waits = [round(waited * 1e6)]

    def add(self, moment: float, batch: int) -> int:
        """Note a token and return its milliseconds."""
        first = not self.batches
        start = self.submitted if first else self._last
        milliseconds = round((moment - start) * 1000)
        self._last = moment
        self.batches.append(batch)
        if not first:
            self.waits.append(0)
        if first:
            self.prefill = milliseconds
        else:
            self.decode.append(milliseconds)
        return milliseconds
