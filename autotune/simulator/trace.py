"""Trace: every call that a scheduler got and what it answered, so that it can be asked again.

A daemon that drives a scheduler in real time records a trace; `replay` puts the same calls to a fresh
scheduler. The answers must be the same, in order, round by round.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from autotune.simulator.policies import Rules, make_scheduler
from autotune.simulator.rounds import Idle, Round, RoundKind
from autotune.simulator.scheduler import Scheduler
from autotune.simulator.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Submitted:
    """A request came."""

    now: float
    number: int
    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A request was taken back."""

    number: int


@dataclass(frozen=True, slots=True)
class Asked:
    """The next round was asked for; without a kind there was none."""

    now: float
    kind: RoundKind | None
    numbers: tuple[int, ...] = ()
    preempted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Completed:
    """The round was over; these requests were finished."""

    now: float
    finished: tuple[int, ...]


TraceEvent = Submitted | Cancelled | Asked | Completed


def asked(answer: Round | Idle, now: float) -> Asked:
    """The event of an answer."""
    if isinstance(answer, Idle):
        return Asked(now, None)
    return Asked(now, answer.kind, numbers_of(answer.sequences), numbers_of(answer.preempted))


def numbers_of(sequences: Iterable[Sequence]) -> tuple[int, ...]:
    """The numbers of sequences, in their order."""
    return tuple(sequence.number for sequence in sequences)


class TracedScheduler:
    """A scheduler that writes down what it is asked and what it answers."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self.events: list[TraceEvent] = []

    def submit(self, sequence: Sequence, now: float) -> None:
        """Queue a sequence. Raises UsageError, and records nothing, when it could never be served."""
        self._scheduler.submit(sequence, now)
        prompt, output = sequence.prompt_tokens, sequence.output_tokens
        self.events.append(Submitted(now, sequence.number, prompt, output))

    def cancel(self, sequence: Sequence) -> None:
        """Take a sequence out."""
        self._scheduler.cancel(sequence)
        self.events.append(Cancelled(sequence.number))

    def next_round(self, now: float) -> Round | Idle:
        """Choose what runs next."""
        work = self._scheduler.next_round(now)
        self.events.append(asked(work, now))
        return work

    def complete(self, work: Round, now: float) -> list[Sequence]:
        """The round is done."""
        finished = self._scheduler.complete(work, now)
        self.events.append(Completed(now, numbers_of(finished)))
        return finished


def replay(rules: Rules, events: tuple[TraceEvent, ...]) -> tuple[TraceEvent, ...]:
    """Put the calls of a trace to a fresh scheduler; return the trace of its own answers.

    Raises ValueError where the trace cannot be followed: a round is completed that this scheduler did not
    give out, or the next is asked for while it runs one that the trace does not know.
    """
    traced = TracedScheduler(make_scheduler(rules))
    known: dict[int, Sequence] = {}
    running: Round | None = None
    for event in events:
        match event:
            case Submitted():
                known[event.number] = Sequence(event.number, event.prompt_tokens, event.output_tokens)
                traced.submit(known[event.number], event.now)
            case Cancelled():
                traced.cancel(known[event.number])
            case Asked():
                if running is not None:
                    raise ValueError(f"a round is given out that the trace does not have before {event.now}")
                chosen = traced.next_round(event.now)
                running = None if isinstance(chosen, Idle) else chosen
            case Completed():
                if running is None:
                    raise ValueError(f"no round to complete at {event.now}")
                traced.complete(running, event.now)
                running = None
    return tuple(traced.events)
