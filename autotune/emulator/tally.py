"""Tally: what the service counts of itself, as its metrics interfaces tell it."""

from bisect import bisect_left
from collections import deque
from typing import Final

from autotune.mindie_rules.metrics import BUCKETS, Histogram, Metric

_WINDOW: Final = 1000
"""DYNAMIC_AVERAGE_WINDOW_SIZE."""


class Buckets:
    """A histogram that grows."""

    __slots__ = ("_bounds", "_counts", "_total")

    def __init__(self, metric: Metric) -> None:
        self._bounds = BUCKETS[metric]
        self._counts = [0] * (len(self._bounds) + 1)
        self._total = 0.0

    def add(self, value: float, times: int = 1) -> None:
        """Note a value."""
        self._counts[bisect_left(self._bounds, value)] += times
        self._total += value * times

    def histogram(self) -> Histogram:
        """What was seen so far."""
        return Histogram(counts=tuple(self._counts), total=self._total)


class Tally:
    """Counts, and the times of tokens; durations in seconds of the service's own clock."""

    def __init__(self) -> None:
        self.received = 0
        self.succeeded = 0
        self.failed = 0
        self.prompt_tokens = 0
        self.generated_tokens = 0
        self.ttft = Buckets(Metric.TTFT)
        self.tbt = Buckets(Metric.TBT)
        self.e2e = Buckets(Metric.E2E)
        self.prompt_lengths = Buckets(Metric.PROMPT_TOKENS)
        self.reply_lengths = Buckets(Metric.GENERATION_TOKENS)
        self._first_tokens: deque[float] = deque(maxlen=_WINDOW)
        self._gaps: deque[float] = deque(maxlen=_WINDOW)

    def taken(self, prompt_tokens: int) -> None:
        """A request is on its way."""
        self.prompt_tokens += prompt_tokens
        self.prompt_lengths.add(prompt_tokens)

    def first_token(self, seconds: float) -> None:
        """A request has its first token."""
        self.ttft.add(seconds)
        self._first_tokens.append(seconds)

    def decoded(self, seconds: float, sequences: int) -> None:
        """A decode gave each of its sequences a token this long after the one before."""
        self.tbt.add(seconds, sequences)
        self._gaps.append(seconds)

    def finished(self, tokens: int, seconds: float) -> None:
        """A request is done."""
        self.succeeded += 1
        self.reply_lengths.add(tokens)
        self.e2e.add(seconds)

    @property
    def mean_ttft_ms(self) -> float:
        """Moving mean of the last first tokens, in milliseconds."""
        return 1000 * sum(self._first_tokens) / len(self._first_tokens) if self._first_tokens else 0.0

    @property
    def mean_tbt_ms(self) -> float:
        """Moving mean of the last gaps between tokens, in milliseconds."""
        return 1000 * sum(self._gaps) / len(self._gaps) if self._gaps else 0.0
