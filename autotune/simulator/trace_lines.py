"""Trace lines: a trace as text, one JSON array for each event, so that a process can leave it behind."""

import json
from collections.abc import Iterable
from typing import Any

from autotune.simulator.rounds import RoundKind
from autotune.simulator.trace import Asked, Cancelled, Completed, Submitted, TraceEvent


def line_of(event: TraceEvent) -> str:
    """The event as one line, without its end. Times are kept to the last bit."""
    return json.dumps(_values(event), separators=(",", ":"))


def _values(event: TraceEvent) -> list[Any]:
    match event:
        case Submitted():
            return ["submit", event.now, event.number, event.prompt_tokens, event.output_tokens]
        case Cancelled():
            return ["cancel", event.number]
        case Asked():
            kind = event.kind.value if event.kind is not None else None
            return ["ask", event.now, kind, event.numbers, event.preempted]
        case Completed():
            return ["complete", event.now, event.finished]


def read_lines(lines: Iterable[str]) -> tuple[TraceEvent, ...]:
    """The events of a trace. Raises ValueError for a line that is none, such as one cut off by a kill."""
    return tuple(_event(line) for line in lines if line.strip())


def _event(line: str) -> TraceEvent:
    match json.loads(line):
        case ["submit", now, number, prompt_tokens, output_tokens]:
            return Submitted(now, number, prompt_tokens, output_tokens)
        case ["cancel", number]:
            return Cancelled(number)
        case ["ask", now, kind, [*numbers], [*preempted]]:
            chosen = None if kind is None else RoundKind(kind)
            return Asked(now, chosen, tuple(numbers), tuple(preempted))
        case ["complete", now, [*finished]]:
            return Completed(now, tuple(finished))
        case _:
            raise ValueError(f"no event of a trace: {line.strip()[:80]!r}")
