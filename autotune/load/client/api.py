"""Api: how one family of services is asked, and how its replies are read."""

from dataclasses import dataclass
from typing import Any, Protocol

from autotune.load.workload.prompt import Prompt
from autotune.load.workload.workload import Sampling, Workload

SSE_END = b"\n\n"
NUL_END = b"\0"
NATURAL_ENDS = frozenset({"stop", "eos_token", "stop_sequence", "eos", "end_of_sequence", "tool_calls"})
"""Finish reasons of a reply that ended by itself; `length` is the one that ended by its limit."""


_MOST_TOKENS = 2**53
"""Beyond this a count is damage, and the columns of the recorder do not hold it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """One request as the service's family wants it described."""

    prompt: Prompt
    output_tokens: int
    sampling: Sampling
    model: str
    streaming: bool = True


@dataclass(kw_only=True, slots=True)
class EventFacts:
    """What one event of a reply says. Not frozen, since one is made for every first and last event."""

    token: bool = False
    """It carries generated text."""
    finish: str | None = None
    """Why the reply ended."""
    tokens: int | None = None
    """The server's own count of generated tokens of the whole reply."""
    prompt_tokens: int | None = None
    final: bool = False
    """The reply is complete: nothing that counts comes after this event."""
    error: str | None = None


class Api(Protocol):
    """One family of services."""

    @property
    def name(self) -> str:
        """As the command line and the profile write it."""

    @property
    def end(self) -> bytes:
        """Bytes that end an event."""

    @property
    def ordinary(self) -> tuple[bytes, ...]:
        """Bytes that stand only in events that carry a token and nothing else."""

    @property
    def leads_in(self) -> bool:
        """Whether replies begin with an event without a token that looks like the ordinary ones."""

    @property
    def tells_finish(self) -> bool:
        """Whether a complete reply always has a finish reason."""

    @property
    def keeps_ignore_eos(self) -> bool:
        """Whether the family knows ignore_eos; where it does not, a natural end is no fault."""

    def path(self, model: str, *, streaming: bool) -> str:
        """Path below the service's address."""

    def document(self, ask: Ask) -> dict[str, Any]:
        """The JSON document of a request."""

    def event(self, document: dict[str, Any]) -> EventFacts:
        """Read one event of a stream."""

    def full(self, document: dict[str, Any]) -> EventFacts:
        """Read a reply that came in one piece."""


def ignores_eos(workload: Workload, api: Api) -> bool:
    """Whether every reply goes on to its limit."""
    return workload.sampling.ignore_eos and api.keeps_ignore_eos


def equally_long(workload: Workload, api: Api) -> bool:
    """Whether every reply has the same number of tokens for sure."""
    return ignores_eos(workload, api) and workload.asks_for_one_length


def error_of(document: dict[str, Any]) -> str | None:
    """The server's complaint in any of the usual places, or None."""
    error = document.get("error")
    if isinstance(error, dict):
        error = error.get("message") or error
    if not error and document.get("object") == "error":
        error = document.get("message") or "error"
    return str(error) if error else None


def whole(value: object) -> int | None:
    """A count, where the server gives one that a reply can have."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_TOKENS:
        return None
    return value


def section(document: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key; empty where there is none."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def present(**values: object) -> dict[str, Any]:
    """Only the values that are set."""
    return {name: value for name, value in values.items() if value is not None}
