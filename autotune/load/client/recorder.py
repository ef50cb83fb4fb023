"""Recorder: what happens on the wire, written down by the hot path as cheaply as Python can."""

from array import array
from dataclasses import dataclass, field
from math import nan

from autotune.load.client.gaps import GapCounts


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """What came in one slice of time; seconds are those of the host."""

    start: float
    events: int
    whole_tokens: int
    """Tokens of replies that came in one piece."""
    running: int
    """Requests that have their first token and are not complete, at the end of the slice."""
    in_flight: int
    completions: int
    failures: int
    told_tokens: int
    told_events: int
    """Tokens and events of the replies that ended here and whose server told a count."""

    def seen_running(self, *, streaming: bool) -> int:
        """Requests that the service works on, as far as the client can see it."""
        return self.running if streaming else self.in_flight


@dataclass(kw_only=True, slots=True)
class Ended:
    """One reply that came to its own end, as its connection knows it. Times of the host's clock."""

    scheduled: float = nan
    sent: float = nan
    first: float = nan
    last: float = nan
    end: float = nan
    events: int = 0
    tokens: int | None = None
    prompt_tokens: int | None = None
    short: bool = False


@dataclass(kw_only=True, slots=True)
class Columns:
    """The replies that ended, one column a fact, small enough for millions."""

    scheduled: "array[float]" = field(default_factory=lambda: array("d"))
    sent: "array[float]" = field(default_factory=lambda: array("d"))
    first: "array[float]" = field(default_factory=lambda: array("d"))
    last: "array[float]" = field(default_factory=lambda: array("d"))
    end: "array[float]" = field(default_factory=lambda: array("d"))
    events: "array[int]" = field(default_factory=lambda: array("l"))
    tokens: "array[int]" = field(default_factory=lambda: array("l"))
    """-1 where the server told none."""
    prompt_tokens: "array[int]" = field(default_factory=lambda: array("l"))
    short: "array[int]" = field(default_factory=lambda: array("b"))

    def add(self, ended: Ended) -> None:
        """Write one reply down."""
        self.scheduled.append(ended.scheduled)
        self.sent.append(ended.sent)
        self.first.append(ended.first)
        self.last.append(ended.last)
        self.end.append(ended.end)
        self.events.append(ended.events)
        self.tokens.append(-1 if ended.tokens is None else ended.tokens)
        self.prompt_tokens.append(-1 if ended.prompt_tokens is None else ended.prompt_tokens)
        self.short.append(1 if ended.short else 0)

    def extend(self, other: "Columns") -> None:
        """Take the rows of another process over."""
        for name in self.__slots__:
            getattr(self, name).extend(getattr(other, name))


class Recorder:
    """Counters of one process. The hot path writes `events`, `gap` and `edge` directly."""

    __slots__ = (
        "_completions",
        "_failures",
        "_seen_events",
        "_told_events",
        "_told_tokens",
        "_whole_tokens",
        "buckets",
        "columns",
        "details",
        "edge",
        "events",
        "failed",
        "failures_in_a_row",
        "gap",
        "gap_counts",
        "gaps",
        "in_flight",
        "last_event",
        "peak_in_flight",
        "running",
        "started",
        "width",
    )  # fmt: skip

    def __init__(self, *, bucket_seconds: float, slice_seconds: float) -> None:
        self.width = bucket_seconds
        self.started = nan
        self.edge = float("inf")
        self.events = 0
        self.running = 0
        self.in_flight = 0
        self.peak_in_flight = 0
        self.last_event = nan
        self.gaps: array[float] = array("d")
        self.gap = self.gaps.append
        self.gap_counts = GapCounts(slice_seconds=slice_seconds)
        self.buckets: list[Bucket] = []
        self.columns = Columns()
        self.failed: dict[str, int] = {}
        self.details: dict[str, str] = {}
        self.failures_in_a_row = 0
        self._completions = 0
        self._failures = 0
        self._seen_events = 0
        self._told_tokens = 0
        self._told_events = 0
        self._whole_tokens = 0

    def begin(self, now: float) -> None:
        """The clock starts."""
        self.started = now
        self.last_event = now
        self.edge = now + self.width

    def issued(self) -> None:
        """A request is on its way."""
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)

    def ended(self, reply: Ended, *, whole_tokens: int = 0) -> None:
        """A reply is complete."""
        self._roll_if_due(reply.end)
        self.in_flight -= 1
        self._completions += 1
        self._whole_tokens += whole_tokens
        self.failures_in_a_row = 0
        if reply.tokens is not None and reply.events:
            self._told_tokens += reply.tokens
            self._told_events += reply.events
        self.columns.add(reply)

    def failed_reply(self, cause: str, detail: str, now: float) -> None:
        """A request has no good reply and never will."""
        self._roll_if_due(now)
        self.in_flight -= 1
        self._failures += 1
        self.failures_in_a_row += 1
        self.failed[cause] = self.failed.get(cause, 0) + 1
        self.details.setdefault(cause, detail)

    def tick(self, now: float) -> None:
        """Close the buckets that are over and fold the gaps; called several times a second."""
        self._roll_if_due(now)
        if self.gaps:
            self.gap_counts.fold(self.gaps, now)
            del self.gaps[:]

    def _roll_if_due(self, now: float) -> None:
        if now >= self.edge:
            self.roll(now)

    def roll(self, now: float) -> None:
        """Close every bucket whose end has passed."""
        while now >= self.edge:
            if self.events != self._seen_events:
                self.last_event = self.edge
            bucket = Bucket(
                start=self.edge - self.width,
                events=self.events - self._seen_events,
                whole_tokens=self._whole_tokens,
                running=self.running,
                in_flight=self.in_flight,
                completions=self._completions,
                failures=self._failures,
                told_tokens=self._told_tokens,
                told_events=self._told_events,
            )
            self.buckets.append(bucket)
            self.edge += self.width
            self._seen_events = self.events
            self._completions = self._failures = 0
            self._told_tokens = self._told_events = self._whole_tokens = 0
