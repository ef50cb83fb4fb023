"""Watch: looks at the buckets while a test runs, and says when it has seen enough."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, unique

from autotune.load.client.recorder import Bucket
from autotune.statistics.window import SteadyWindow, WindowStatus


@unique
class Stop(Enum):
    """Why a test ended."""

    ENOUGH = "enough"
    """The interval, the time or the number of requests that was asked for is reached."""
    DEAD = "dead"
    STALLED = "stalled"


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchRules:
    """When to stop. Seconds of the host's clock, but the window's own are the service's."""

    concurrency: int
    bucket_seconds: float
    duration: float | None = None
    """Stop then, whatever the window says."""
    stop_when_sure: bool = True
    streaming: bool = True
    tokens_an_event: float = 1.0
    """Where the service tells no counts."""
    stall_seconds: float = 120.0
    dead_seconds: float = 2.0


class LevelWatch:
    """Feeds the steady window and notices a service that died or stalled."""

    def __init__(
        self,
        *,
        rules: WatchRules,
        window: SteadyWindow | None,
        progress: Callable[[float, WindowStatus | None], None] | None = None,
        ask_outside: Callable[[], str | None] | None = None,
    ) -> None:
        self._rules = rules
        self._window = window
        self._progress = progress
        self._ask_outside = ask_outside
        self._held: list[Bucket] = []
        self._told_tokens = 0
        self._told_events = 0
        self._seen = 0
        self._silent = 0
        self._failures = 0
        self.factor: float | None = None
        """Tokens an event that the window was fed with; None until it is known."""
        self.fed = 0
        """Buckets that the window has."""
        self.stop: Stop | None = None
        self.detail = ""

    def see(self, buckets: Sequence[Bucket]) -> bool:
        """Take new buckets; true when the test shall end."""
        for bucket in buckets:
            self._take(bucket)
            if self.stop is not None:
                return True
        told = self._ask_outside() if self._ask_outside is not None else None
        if told is not None:
            self.stop, self.detail = Stop.DEAD, told
        if buckets and self._progress is not None:
            self._progress(self._seen * self._rules.bucket_seconds, self.status())
        return self.stop is not None

    def status(self) -> WindowStatus | None:
        """Where the steady window stands; None where there is no window."""
        return self._window.status() if self._window is not None else None

    def _take(self, bucket: Bucket) -> None:
        self._seen += 1
        self._notice_death(bucket)
        self._calibrate(bucket)
        rules = self._rules
        if rules.duration is not None and self._seen * rules.bucket_seconds >= rules.duration - 1e-9:
            self.stop = self.stop or Stop.ENOUGH
        status = self.status()
        if status is not None and rules.stop_when_sure and status.done:
            self.stop = self.stop or Stop.ENOUGH

    def _notice_death(self, bucket: Bucket) -> None:
        if bucket.events or bucket.completions:
            self._silent = self._failures = 0
            return
        self._silent += 1
        self._failures += bucket.failures
        quiet = self._silent * self._rules.bucket_seconds
        if self._failures >= max(5, min(self._rules.concurrency, 50)) and quiet >= self._rules.dead_seconds:
            self.stop, self.detail = Stop.DEAD, f"{self._failures} requests in a row failed"
        elif quiet >= self._rules.stall_seconds:
            self.stop, self.detail = Stop.STALLED, f"no token for {quiet:.0f} s"

    def _calibrate(self, bucket: Bucket) -> None:
        """Tokens an event are known from the first replies whose server told a count."""
        self._told_tokens += bucket.told_tokens
        self._told_events += bucket.told_events
        self._held.append(bucket)
        if self.factor is None:
            self.factor = self._factor_now(bucket)
        if self.factor is None or self._window is None:
            return
        for held in self._held:
            tokens = held.events * self.factor + held.whole_tokens
            running = held.seen_running(streaming=self._rules.streaming)
            self._window.add(tokens, running, held.completions)
            self.fed += 1
        self._held.clear()

    def _factor_now(self, bucket: Bucket) -> float | None:
        if self._told_events:
            return self._told_tokens / self._told_events
        if bucket.completions:
            return self._rules.tokens_an_event
        return None
