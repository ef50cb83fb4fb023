"""EngineLoop: MindIE's scheduler in real time, one step after another on an absolute schedule.

A step is due at a moment of the service's clock that follows from the step before it, never from when
the host came to do it: a late step does not delay the next.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from autotune.emulator.clock import ServiceClock
from autotune.emulator.responses import END
from autotune.emulator.streams import Stream
from autotune.emulator.tally import Tally
from autotune.emulator.trace import Punctuality, Trace
from autotune.errors import UsageError
from autotune.simulator.mindie import MindieScheduler
from autotune.simulator.rounds import Idle, Round, RoundKind
from autotune.simulator.sequence import Sequence

_POLL = 0.2
"""Seconds between the server's looks for clients that have gone."""


_ROUNDING = 1e-6
"""Seconds by which the host's clock may seem early for a moment that it was woken for."""


class Timer(Protocol):
    """Calls the engine back at a monotonic time of the host."""

    def set(self, moment: float) -> None:
        """Fire once, at once when the time has passed."""


class EngineLoop:
    """Takes streams, runs rounds, and writes every token to its stream when its round is done."""

    def __init__(
        self,
        scheduler: MindieScheduler,
        seconds: Callable[[Round, float], float],
        clock: ServiceClock,
        *,
        tally: Tally,
        trace: Trace,
    ) -> None:
        self.scheduler = scheduler
        self.clock = clock
        self.tally = tally
        self.punctuality = Punctuality()
        self._seconds = seconds
        self._trace = trace
        self._timer: Timer | None = None
        self._streams: dict[int, Stream] = {}
        self._inbox: deque[tuple[float, Sequence]] = deque()
        self._gone: deque[tuple[float, Sequence]] = deque()
        self._moment = 0.0
        self._begun = 0.0
        self._work: Round | None = None
        self._due = 0.0
        self._number = 0
        self._halted_at: float | None = None
        self._armed = False

    def attach(self, timer: Timer) -> None:
        """Give the engine its timer, whose expiry must call `step`."""
        self._timer = timer

    def next_number(self) -> int:
        """A number for a new sequence."""
        self._number += 1
        return self._number

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that are not finished."""
        return tuple(self._streams.values())

    @property
    def waiting(self) -> int:
        """Requests without a first token, those on their way to the scheduler included."""
        return self.scheduler.waiting + len(self._inbox)

    @property
    def running(self) -> int:
        """Requests that the device works on."""
        in_prefill = self._work is not None and self._work.kind is RoundKind.PREFILL
        return self.scheduler.running + (len(self._work.sequences) if in_prefill and self._work else 0)

    @property
    def lag(self) -> float:
        """Seconds of the host by which the step that runs is overdue; 0 for none."""
        if self._work is None or self._halted_at is not None:
            return 0.0
        return max(0.0, self.clock.host_seconds(self.clock.now() - self._due))

    def submit(self, stream: Stream) -> None:
        """Take a request; it arrives now. Raises UsageError when it can never be served."""
        sequence = stream.sequence
        if not self.scheduler.fits(sequence.prompt_tokens, sequence.output_tokens):
            raise UsageError("The request needs more KV blocks than there are.")
        self._streams[sequence.number] = stream
        stream.arrived = self.enqueue(sequence)
        self.tally.taken(sequence.prompt_tokens)

    def enqueue(self, sequence: Sequence) -> float:
        """Take a sequence that nobody reads; return the moment of its arrival."""
        arrival = self.clock.now()
        self._inbox.append((arrival, sequence))
        if self._work is None:
            self._wake(arrival)
        return arrival

    def cancel(self, stream: Stream) -> None:
        """Forget a stream whose client has gone; the scheduler hears of it at the next look."""
        if self._streams.pop(stream.sequence.number, None) is None:
            return
        looked = (self.clock.now() // _POLL + 1) * _POLL
        self._gone.append((looked, stream.sequence))
        if self._work is None:
            self._wake(looked)

    def halt(self) -> None:
        """Stop making tokens."""
        self._halted_at = self.clock.now()

    def resume(self) -> None:
        """Go on where it was halted; the time between is lost, not made up for."""
        if self._halted_at is None:
            return
        lost = self.clock.now() - self._halted_at
        self._halted_at = None
        self._moment += lost
        if self._work is None:
            self._choose()
        else:
            self._due += lost
            self._arm(self._due)

    def step(self) -> None:
        """Do what is due: the end of a round, and the choice of the next."""
        self._armed = False
        if self._halted_at is not None:
            return
        if self._work is not None:
            self._finish(self._work)
        self._choose()

    def _finish(self, work: Round) -> None:
        moment = self._moment = self._due
        self._work = None
        done = self.clock.host_seconds(self.clock.now())
        self.punctuality.add(done, done - self.clock.host_seconds(moment), len(work.sequences))
        self._trace.completed(self.scheduler.complete(work, moment), moment)
        self._emit(work, moment)

    def _choose(self) -> None:
        """Begin the next round, or sleep until something can change."""
        now = self.clock.now()
        while True:
            self._take(self._moment)
            chosen = self.scheduler.next_round(self._moment)
            self._trace.asked(chosen, self._moment)
            if isinstance(chosen, Round):
                self._begin(chosen)
                return
            wake = self._next_change(chosen)
            if wake is None or wake > now + _ROUNDING:
                break
            self._moment = max(self._moment, wake)
        if wake is not None:
            self._wake(wake)

    def _begin(self, work: Round) -> None:
        self._work = work
        self._begun = self._moment
        self._due = self._moment + self._seconds(work, self._moment)
        self._arm(self._due)

    def _next_change(self, idle: Idle) -> float | None:
        moments = [idle.until] if idle.until is not None else []
        if self._inbox:
            moments.append(self._inbox[0][0])
        if self._gone:
            moments.append(self._gone[0][0])
        return max(min(moments), self._moment) if moments else None

    def _take(self, moment: float) -> None:
        """Hand over the arrivals and the cancellations that this boundary sees."""
        while self._inbox and self._inbox[0][0] <= moment:
            arrival, sequence = self._inbox.popleft()
            self._trace.submitted(sequence, arrival)
            self.scheduler.submit(sequence, arrival)
        waiting = [entry for entry in self._gone if entry[0] > moment]
        for looked, sequence in self._gone:
            if looked <= moment:
                self._drop(sequence)
        self._gone = deque(waiting)

    def _drop(self, sequence: Sequence) -> None:
        for entry in self._inbox:
            if entry[1] is sequence:
                self._inbox.remove(entry)
                return
        self._trace.cancelled(sequence)
        self.scheduler.cancel(sequence)

    def _wake(self, moment: float) -> None:
        if not self._armed or moment < self._due:
            self._due = moment
            self._arm(moment)

    def _arm(self, moment: float) -> None:
        self._armed = True
        if self._timer is not None:
            self._timer.set(self.clock.host_time(moment))

    def _emit(self, work: Round, moment: float) -> None:
        """Write the token of every sequence of the round; this is the hot path."""
        batch = len(work.sequences)
        self.tally.generated_tokens += batch
        streams = self._streams
        ended: list[Stream] = []
        gap = 0.0
        for sequence in work.sequences:
            stream = streams.get(sequence.number)
            if stream is None:
                continue
            position = stream.sent
            stream.sent = position + 1
            if position == 0:
                stream.first_at = moment
                stream.reply.begun(max(0.0, self._begun - stream.arrived))
                self.tally.first_token(moment - stream.arrived)
            else:
                gap = moment - stream.last_at
            stream.last_at = moment
            if position + 1 >= stream.tokens or position + 1 >= stream.cut_after:
                ended.append(stream)
            elif stream.streaming:
                stream.sink.write(stream.reply.token(position, moment, batch))
            else:
                stream.reply.token(position, moment, batch)
        if gap:
            self.tally.decoded(gap, batch)
        for stream in ended:
            self._end(stream, moment, batch)

    def _end(self, stream: Stream, moment: float, batch: int) -> None:
        del self._streams[stream.sequence.number]
        if stream.sent < stream.tokens:
            self._gone.append((moment, stream.sequence))
            stream.sink.cut()
            return
        self.tally.finished(stream.tokens, moment - stream.arrived)
        last = stream.reply.last(stream.sent - 1, moment, batch, stream.plan.reason)
        if stream.streaming:
            stream.sink.end(last + END)
        else:
            stream.sink.answer(stream.reply.whole(stream.tokens, stream.plan.reason))
