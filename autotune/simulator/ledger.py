"""Ledger: what a run produced, bucket by bucket of its time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of time, as a steady window takes it."""

    tokens: float
    running: float
    """Mean running sequences."""
    completions: int


class Ledger:
    """Spreads rounds over buckets. A round's tokens count in the bucket in which it ends."""

    def __init__(self, bucket_seconds: float) -> None:
        self.bucket_seconds = bucket_seconds
        self._tokens: list[float] = []
        self._running_seconds: list[float] = []
        self._completions: list[int] = []

    def add(self, begin: float, end: float, *, running: int, tokens: int, completions: int = 0) -> None:
        """Book what happened between two times, in seconds."""
        last = int(end / self.bucket_seconds)
        while len(self._tokens) <= last:
            self._tokens.append(0.0)
            self._running_seconds.append(0.0)
            self._completions.append(0)
        self._tokens[last] += tokens
        self._completions[last] += completions
        first = int(begin / self.bucket_seconds)
        if first == last:
            self._running_seconds[last] += running * (end - begin)
            return
        for index in range(first, last + 1):
            start = max(begin, index * self.bucket_seconds)
            stop = min(end, (index + 1) * self.bucket_seconds)
            self._running_seconds[index] += running * (stop - start)

    def full(self, now: float) -> int:
        """Number of buckets that can no longer change at time `now`."""
        return min(len(self._tokens), int(now / self.bucket_seconds))

    def bucket(self, index: int) -> Bucket:
        """One of them."""
        return Bucket(
            self._tokens[index],
            self._running_seconds[index] / self.bucket_seconds,
            self._completions[index],
        )

    def buckets(self, now: float) -> tuple[Bucket, ...]:
        """All that are full at time `now`."""
        return tuple(self.bucket(index) for index in range(self.full(now)))
