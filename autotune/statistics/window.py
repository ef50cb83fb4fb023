"""SteadyWindow: fed bucket by bucket, it says how fast the service is, how surely, and when to stop."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from autotune.statistics.intervals import MeanInterval, batch_means_interval
from autotune.statistics.steady import mser5
from autotune.statistics.wander import values_a_group, wander_interval
from autotune.statistics.waves import without_waves

QUICK_FROM = 0.015
"""Wanted half-widths above this fraction are read by the rule of sweep levels, or of single tests."""
_GROWTH = 1.4
_PLATEAU_SHARE = 0.9
_FEWEST_BATCHES = 3
_BATCHES = 10
"""Until the first look."""
_BELOW_SHARE = 0.3
"""Of that window, after which a sure loser may be ended."""
_BELOW_SECONDS = 10.0
_TRANSIENT = 0.1
"""Share of the speed by which what is dropped for being unsteady differs from the rest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowStatus:
    """Where a level stands. All times are seconds of the service's clock."""

    seconds: float
    """Length of the steady window so far."""
    tokens_per_second: float | None
    """Over the steady window; None while nothing can be said yet."""
    half_width: float | None
    """Half of the interval, a fraction of tokens_per_second."""
    batch_means: tuple[float, ...]
    """Tokens a second of each batch, in order; what half_width came from."""
    seconds_left: float | None
    """Until the level is likely to end; None while nothing can be said."""
    done: bool
    capped: bool
    """The time cap ended the level; half_width may be wider than wanted, or None."""
    below: bool
    """Ended early, because the speed is surely below what was asked for."""
    dropped_seconds: float
    """Left out at the beginning: what came before is not steady."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """How long to settle and to read; W is how long a request stays."""

    settle: float
    """In W."""
    cut: bool
    """Whether MSER-5 may drop more; a short window has nothing to spare for it."""
    whole_batches: bool
    """Batches of at least W; else a tenth of the first look's window."""
    shortest_batch: float
    """Seconds."""
    longest_first: float
    """Seconds within which the first look comes, however long W is."""
    longest_in_first: float
    """A level ends as it is after so many times what it reads until its first look, ..."""
    longest_reading: float
    """... and at the latest after so many seconds, or with its first look."""
    stop_share: float
    """A level ends when its interval is this share of the wanted one."""
    plain_share: float
    """An interval this far inside the wanted one is stated as it is; see `_stated`."""

    @property
    def shortest_reading(self) -> float:
        """Seconds."""
        return _BATCHES * self.shortest_batch

    def first_reading(self, residence: float) -> float:
        """Seconds to read before the first look."""
        if self.whole_batches:
            return _BATCHES * max(residence, self.shortest_batch)
        return max(self.shortest_reading, min(residence, self.longest_first))

    def batch_seconds(self, residence: float) -> float:
        """Length of a batch."""
        return self.first_reading(residence) / _BATCHES

    def reading_seconds(self, residence: float) -> float:
        """Longest time to read."""
        first = self.first_reading(residence)
        return max(first, min(self.longest_in_first * first, self.longest_reading))


FINAL_RULE = Rule(
    settle=2.0,
    cut=True,
    whole_batches=True,
    shortest_batch=15.0,
    longest_first=math.inf,
    longest_in_first=math.inf,
    longest_reading=math.inf,
    stop_share=0.8,
    plain_share=0.3,
)
"""Drop 2 W, batches of max(W, 15 s), first look after 10."""
SINGLE_RULE = Rule(
    settle=2.0,
    cut=True,
    whole_batches=False,
    shortest_batch=1.0,
    longest_first=90.0,
    longest_in_first=math.inf,
    longest_reading=math.inf,
    stop_share=1.0,
    plain_share=0.5,
)
"""A test that stands alone and wants more than 1.5 %: 2 W to settle, then until its interval is narrow."""
SWEEP_RULE = replace(SINGLE_RULE, settle=1.0, cut=False, longest_in_first=2.5, longest_reading=90.0)
"""One W to settle and one W (10 to 90 s) to read; a restless service two and a half, 90 s at most."""


class SteadyWindow:
    """Sequential measuring of one level.

    `add` is called once a bucket; it is cheap between looks, and the looks are geometrically spaced.
    W, the residence time of a request, is running requests over request rate (Little), queue excluded.
    A test that stands `alone` has no other levels beside it, and is read until it is sure.
    """

    def __init__(
        self,
        *,
        half_width: float,
        cap_seconds: float,
        stop_below: float | None = None,
        bucket_seconds: float = 0.5,
        confidence: float = 0.95,
        alone: bool = False,
    ) -> None:
        if half_width <= 0.0 or cap_seconds <= 0.0 or bucket_seconds <= 0.0:
            raise ValueError("half_width, cap_seconds and bucket_seconds must be positive")
        self._wanted = half_width
        self._cap = cap_seconds
        self._stop_below = stop_below
        self._bucket = bucket_seconds
        self._confidence = confidence
        wide = SINGLE_RULE if alone else SWEEP_RULE
        self._rule = wide if half_width > QUICK_FROM else FINAL_RULE
        self._tokens = array("d")
        self._token_sums = array("d", [0.0])
        self._running_sums = array("d", [0.0])
        self._completion_sums = array("d", [0.0])
        self._next_look = self._rule.shortest_reading
        self._next_below_look = _BELOW_SECONDS
        self._status = WindowStatus(
            seconds=0.0,
            tokens_per_second=None,
            half_width=None,
            batch_means=(),
            seconds_left=None,
            done=False,
            capped=False,
            below=False,
            dropped_seconds=0.0,
        )

    @property
    def elapsed(self) -> float:
        """Seconds fed so far."""
        return len(self._tokens) * self._bucket

    def add(self, tokens: float, running: float, completions: int) -> None:
        """Feed one bucket: generated tokens, mean running requests, and requests that finished in it."""
        self._tokens.append(tokens)
        self._token_sums.append(self._token_sums[-1] + tokens)
        self._running_sums.append(self._running_sums[-1] + running)
        self._completion_sums.append(self._completion_sums[-1] + completions)
        if self._status.done:
            return
        now = self.elapsed
        if now >= self._cap:
            self._close()
        elif now >= self._next_look:
            self._look(now)
        elif self._stop_below is not None and now >= self._next_below_look:
            self._look_below(now)

    def status(self) -> WindowStatus:
        """What is known now."""
        return self._status

    def _residence(self) -> float | None:
        """W in seconds, from the second half of what was fed; None before the first completions."""
        n = len(self._tokens)
        half = n // 2
        completions = self._completion_sums[n] - self._completion_sums[half]
        if completions <= 0.0:
            return None
        return (self._running_sums[n] - self._running_sums[half]) * self._bucket / completions

    def _ramp_seconds(self) -> float:
        """When the running count first came to 90 % of its later mean."""
        n = len(self._tokens)
        half = n // 2
        plateau = _PLATEAU_SHARE * (self._running_sums[n] - self._running_sums[half]) / max(1, n - half)
        for index in range(half):
            if self._running_sums[index + 1] - self._running_sums[index] >= plateau:
                return index * self._bucket
        return half * self._bucket

    def _cut(self, residence: float) -> float:
        """Seconds to drop: the rule's settling time, MSER-5's cut or the ramp, whichever is longest."""
        settled = max(self._rule.settle * residence, self._ramp_seconds())
        return max(settled, self._transient()) if self._rule.cut else settled

    def _transient(self) -> float:
        """Seconds that MSER-5 would drop, where their speed is another one.

        Where the speed wanders MSER-5 keeps what looks even, so that it would choose the luckiest part.
        """
        n, cut = len(self._tokens), mser5(self._tokens)
        if not cut:
            return 0.0
        before = self._token_sums[cut] / cut
        after = (self._token_sums[n] - self._token_sums[cut]) / (n - cut)
        return cut * self._bucket if abs(before - after) > _TRANSIENT * after else 0.0

    def _look(self, now: float) -> None:
        residence = self._residence()
        if residence is None:
            self._next_look = now + max(1.0, 0.05 * now)
            return
        first = self._rule.first_reading(residence)
        earliest = self._rule.settle * residence + first
        if now >= earliest:
            cut = self._cut(residence)
            earliest = cut + first
            if now >= earliest:
                self._judge(now, cut, residence)
                return
        self._next_look = min(earliest, now + max(1.0, 0.05 * now))
        self._report(seconds_left=min(earliest, self._cap) - now)

    def _judge(self, now: float, cut: float, residence: float) -> None:
        batch = self._rule.batch_seconds(residence)
        interval, means = self._interval(now, cut, batch)
        length, longest = now - cut, self._rule.reading_seconds(residence)
        wanted = self._rule.stop_share * self._wanted
        narrow = interval.relative <= wanted
        given_up = not narrow and length >= longest
        self._next_look = cut + min(_GROWTH * length, max(longest, length + self._bucket))
        growth = max(_GROWTH, (interval.relative / wanted) ** 2)
        left = min(length * (growth - 1.0), self._cap - now, max(0.0, longest - length))
        done = narrow or given_up
        self._set(interval, means, batch, seconds_left=0.0 if done else left, done=done, capped=given_up)

    def _look_below(self, now: float) -> None:
        residence = self._residence()
        if residence is None or self._stop_below is None:
            self._next_below_look = now + self._rule.batch_seconds(0.0)
            return
        batch = self._rule.batch_seconds(residence)
        self._next_below_look = now + batch
        least = max(_BELOW_SECONDS, _BELOW_SHARE * self._rule.first_reading(residence))
        if now < self._rule.settle * residence + least:
            return
        cut = self._cut(residence)
        if now < cut + least:
            return
        interval, means = self._interval(now, cut, batch)
        if interval.mean + interval.half_width < self._stop_below:
            self._set(interval, means, batch, seconds_left=0.0, done=True, below=True)

    def _close(self) -> None:
        """The cap is reached: the best interval that the data gives, or none."""
        now = self.elapsed
        residence = self._residence()
        if residence is not None:
            cut = min(self._cut(residence), max(0.0, now - residence))
            batch = self._rule.batch_seconds(residence)
            if (now - cut) / batch < _FEWEST_BATCHES:
                batch = (now - cut) / (_FEWEST_BATCHES + 1)
            if batch >= self._bucket:
                interval, means = self._interval(now, cut, batch)
                narrow = interval.relative <= self._rule.stop_share * self._wanted
                capped = not narrow or len(means) < _BATCHES
                self._set(interval, means, batch, seconds_left=0.0, done=True, capped=capped)
                return
        self._report(seconds_left=0.0, done=True, capped=True)

    def _interval(self, now: float, cut: float, batch: float) -> tuple[MeanInterval, tuple[float, ...]]:
        """Interval over whole batches that end now and begin after the cut.

        Ten batches of at least 15 s show a wander by their own scatter; shorter windows do not.
        """
        width = max(1, round(batch / self._bucket))
        end = round(now / self._bucket)
        count = max(2, int((end - cut / self._bucket) / width + 1e-9))
        means = self._means(end, count, width)
        if self._rule.whole_batches and count >= _BATCHES:
            return batch_means_interval(means, confidence=self._confidence), means
        group = values_a_group(count * width, self._bucket)
        even = self._even(end, count * width)
        if len(even) // width >= _FEWEST_BATCHES:
            values, means = _grouped(even, group), _grouped(even, width)
        else:
            values = self._means(end, max(_FEWEST_BATCHES, count * width // group), group)
        return wander_interval(values, group * self._bucket, confidence=self._confidence), means

    def _even(self, end: int, length: int) -> tuple[float, ...]:
        """Buckets of whole waves with the wave taken out; none where there is no wave."""
        residence = self._residence()
        return (
            () if residence is None else without_waves(self._means(end, length, 1), self._bucket, residence)
        )

    def _means(self, end: int, count: int, width: int) -> tuple[float, ...]:
        """Tokens a second of the last `count` stretches of `width` buckets before bucket `end`."""
        sums = self._token_sums
        edges = [end - width * (count - i) for i in range(count + 1)]
        return tuple((sums[b] - sums[a]) / ((b - a) * self._bucket) for a, b in pairwise(edges))

    def _stated(self, computed: float) -> float:
        """The half-width to state for a computed one, both fractions.

        A level ends the moment its interval looks narrow enough, which favours looks that were lucky when
        the speed wanders: such a level states the width it was asked for (fixed-width sequential
        intervals; Chow and Robbins, 1965). One that is far inside would have ended there anyway.
        """
        return computed if computed <= self._rule.plain_share * self._wanted else max(computed, self._wanted)

    def _set(
        self,
        interval: MeanInterval,
        means: tuple[float, ...],
        batch: float,
        *,
        seconds_left: float,
        done: bool,
        capped: bool = False,
        below: bool = False,
    ) -> None:
        length = len(means) * max(1, round(batch / self._bucket)) * self._bucket
        self._status = WindowStatus(
            seconds=length,
            tokens_per_second=math.fsum(means) / len(means),
            half_width=self._stated(interval.relative),
            batch_means=means,
            seconds_left=max(0.0, seconds_left),
            done=done,
            capped=capped,
            below=below,
            dropped_seconds=self.elapsed - length,
        )

    def _report(self, *, seconds_left: float, done: bool = False, capped: bool = False) -> None:
        old = self._status
        self._status = WindowStatus(
            seconds=old.seconds,
            tokens_per_second=old.tokens_per_second,
            half_width=old.half_width,
            batch_means=old.batch_means,
            seconds_left=max(0.0, seconds_left),
            done=done,
            capped=capped,
            below=False,
            dropped_seconds=old.dropped_seconds,
        )


def _grouped(values: Sequence[float], size: int) -> tuple[float, ...]:
    """Means of so many neighbours each, the last ones first to be taken."""
    part = values[len(values) % size :]
    return tuple(math.fsum(part[at : at + size]) / size for at in range(0, len(part), size))
