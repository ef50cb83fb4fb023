"""Stream: one request from its submission to the end of its reply, between a connection and the engine."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from autotune.emulator.ask import Ask, ReplyLengths
from autotune.emulator.faults import Faults
from autotune.emulator.protocols.reply import Inquiry
from autotune.simulator.rules import MindieRules
from autotune.simulator.sequence import Sequence

END_OF_SEQUENCE: Final = "eos_token"
LENGTH: Final = "length"


class Sink(Protocol):
    """Where a reply goes."""

    def write(self, data: bytes) -> None:
        """Send a piece of a stream."""

    def end(self, data: bytes) -> None:
        """Send the last piece and close."""

    def answer(self, body: str) -> None:
        """Send an answer that is not streamed, and close."""

    def fail(self, status: int, message: str) -> None:
        """Send an error, and close; inside a stream the message stands in the body as plain text."""

    def cut(self) -> None:
        """Close in the middle of a stream, without its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """How a reply will go; known when its request is taken, since the model is emulated."""

    tokens: int
    reason: str
    cut_after: int | None = None
    """Tokens after which the stream breaks off."""


def plan_reply(
    ask: Ask, rules: MindieRules, lengths: ReplyLengths, faults: Faults, draw: Callable[[], float]
) -> Plan:
    """Tokens and finish reason of a reply.

    The service caps every reply at maxIterTimes and at maxSeqLen less the prompt; an end of sequence
    comes earlier when the length that belongs to the prompt is shorter and the client allows it.
    """
    cap = max(1, min(ask.max_tokens, rules.max_iter_times, rules.max_seq_len - ask.prompt_tokens))
    natural = cap if ask.exact else max(lengths.natural(ask.prompt_hash), ask.min_tokens)
    tokens, reason = (natural, END_OF_SEQUENCE) if natural < cap else (cap, LENGTH)
    if faults.short_rate and draw() < faults.short_rate:
        tokens, reason = max(1, tokens // 2), END_OF_SEQUENCE
    cut = max(1, tokens // 2) if faults.truncate_rate and draw() < faults.truncate_rate else None
    return Plan(tokens=tokens, reason=reason, cut_after=cut)


class Stream:
    """A request that the engine works on; the engine owns every field below `plan`."""

    __slots__ = (
        "arrived",
        "ask",
        "cut_after",
        "first_at",
        "last_at",
        "plan",
        "reply",
        "sent",
        "sequence",
        "sink",
        "streaming",
        "tokens",
    )

    def __init__(self, inquiry: Inquiry, plan: Plan, sink: Sink, number: int) -> None:
        self.ask = inquiry.ask
        self.reply = inquiry.reply
        self.sink = sink
        self.plan = plan
        self.tokens = plan.tokens
        self.cut_after = plan.cut_after or plan.tokens + 1
        self.streaming = inquiry.ask.stream
        self.sequence = Sequence(
            number=number, prompt_tokens=inquiry.ask.prompt_tokens, output_tokens=plan.tokens
        )
        self.sent = 0
        self.arrived = 0.0
        self.first_at = 0.0
        self.last_at = 0.0


def seeded(*parts: object) -> random.Random:
    """A source of random numbers that the same parts always give again."""
    return random.Random(repr(parts))  # noqa: S311 - noise of a simulation
