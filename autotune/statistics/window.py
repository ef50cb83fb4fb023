"""SteadyWindow: fed bucket by bucket, it says how fast the service is, how surely, and when to stop."""

import math
from array import array
from dataclasses import dataclass, replace
from itertools import pairwise

from autotune.statistics.intervals import MeanInterval, batch_means_interval
from autotune.statistics.steady import mser5

QUICK_FROM = 0.015
"""Wanted half-widths above this fraction are read by the quick rule of sweep levels."""
_GROWTH = 1.4
_PLATEAU_SHARE = 0.9
_FEWEST_BATCHES = 3
_LONGEST_IN_RESIDENCES = 4.0
_WIDEST_FACTOR = 4.2
"""Of a computed interval, for windows so short that they show nothing of a slow wander; see Rule.factor."""
_UNSEEN_SECONDS = 70.0
"""How slow a wander may be that a short window must allow for."""


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
    """How long to settle and how to cut batches, in residence times W of a request."""

    settle: float
    batch: float
    shortest_batch: float
    longest_batch: float
    batches: int
    longest_reading: float
    """Seconds, or four residence times where these are longer, after which a level ends as it is."""
    stop_share: float
    """A level ends when its interval is this share of the wanted one."""
    plain_share: float
    """An interval this far inside the wanted one is stated as it is; see `_stated`."""
    chosen_seconds: float = 0.0
    """Added to `_UNSEEN_SECONDS` where a level ends because its interval looks narrow."""
    seen_from: float = math.inf
    """Seconds from which a window shows the wander by itself."""

    def factor(self, seconds: float, *, chosen: bool = False) -> float:
        """By how much an interval computed within so many seconds is widened.

        The batches of a window that is hardly longer than the wander of the speed lie on one slope of it:
        their spread, and their correlation too, come out too small. The factor holds the truth in 19 of 20
        simulated levels whose speed wanders by up to 3 % with a time constant of 20 s. It is larger for a
        `chosen` look, one that ends the level by what it shows: that favours lucky looks.
        """
        if seconds >= self.seen_from:
            return 1.0
        unseen = _UNSEEN_SECONDS + (self.chosen_seconds if chosen else 0.0)
        return min(_WIDEST_FACTOR, 1.0 + unseen / seconds)

    def reading_seconds(self, residence: float) -> float:
        """Longest time to read after settling."""
        return max(self.longest_reading, _LONGEST_IN_RESIDENCES * residence)

    def batch_seconds(self, residence: float) -> float:
        """Length of a batch."""
        return min(max(self.batch * residence, self.shortest_batch), self.longest_batch)


FINAL_RULE = Rule(
    settle=2.0,
    batch=1.0,
    shortest_batch=15.0,
    longest_batch=math.inf,
    batches=10,
    longest_reading=math.inf,
    stop_share=0.8,
    plain_share=0.3,
    seen_from=140.0,
)
"""Drop 2 W, batches of max(W, 15 s), first look after 10: holds its interval when the speed wanders."""
QUICK_RULE = Rule(
    settle=1.0,
    batch=1 / 6,
    shortest_batch=4.5,
    longest_batch=15.0,
    batches=10,
    longest_reading=90.0,
    stop_share=1.0,
    plain_share=0.3,
    chosen_seconds=65.0,
)
"""One W to settle, 45 s to read, a restless service 90 s and no longer: its interval then is wide."""


class SteadyWindow:
    """Sequential measuring of one level.

    `add` is called once a bucket; it is cheap between looks, and the looks are geometrically spaced.
    W, the residence time of a request, is running requests over request rate (Little), queue excluded.
    """

    def __init__(
        self,
        *,
        half_width: float,
        cap_seconds: float,
        stop_below: float | None = None,
        bucket_seconds: float = 0.5,
        confidence: float = 0.95,
    ) -> None:
        if half_width <= 0.0 or cap_seconds <= 0.0 or bucket_seconds <= 0.0:
            raise ValueError("half_width, cap_seconds and bucket_seconds must be positive")
        self._wanted = half_width
        self._cap = cap_seconds
        self._stop_below = stop_below
        self._bucket = bucket_seconds
        self._confidence = confidence
        self._rule = QUICK_RULE if half_width > QUICK_FROM else FINAL_RULE
        self._tokens = array("d")
        self._token_sums = array("d", [0.0])
        self._running_sums = array("d", [0.0])
        self._completion_sums = array("d", [0.0])
        self._next_look = self._rule.batches * self._rule.shortest_batch
        self._next_below_look = _FEWEST_BATCHES * self._rule.shortest_batch
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
        return max(self._rule.settle * residence, mser5(self._tokens) * self._bucket, self._ramp_seconds())

    def _look(self, now: float) -> None:
        residence = self._residence()
        if residence is None:
            self._next_look = now + max(1.0, 0.05 * now)
            return
        batch = self._rule.batch_seconds(residence)
        earliest = self._rule.settle * residence + self._rule.batches * batch
        if now >= earliest:
            cut = self._cut(residence)
            earliest = cut + self._rule.batches * batch
            if now >= earliest:
                self._judge(now, cut, residence)
                return
        self._next_look = min(earliest, now + max(1.0, 0.05 * now))
        self._report(seconds_left=min(earliest, self._cap) - now)

    def _judge(self, now: float, cut: float, residence: float) -> None:
        batch = self._rule.batch_seconds(residence)
        interval, means = self._interval(now, cut, batch, chosen=True)
        length, longest = now - cut, self._rule.reading_seconds(residence)
        wanted = self._rule.stop_share * self._wanted
        narrow = interval.relative <= wanted
        given_up = not narrow and length >= longest
        self._next_look = cut + self._next_length(length, batch, longest)
        growth = max(_GROWTH, (interval.relative / wanted) ** 2)
        left = min(length * (growth - 1.0), self._cap - now, max(0.0, longest - length))
        done = narrow or given_up
        self._set(interval, means, batch, seconds_left=0.0 if done else left, done=done, capped=given_up)

    def _next_length(self, length: float, batch: float, longest: float) -> float:
        """A short reading is looked at twice only: each further look would favour lucky ones."""
        if math.isinf(longest):
            return _GROWTH * length
        return max(length + batch, longest)

    def _look_below(self, now: float) -> None:
        residence = self._residence()
        batch = self._rule.batch_seconds(residence or 0.0)
        self._next_below_look = now + batch
        if residence is None or now < self._rule.settle * residence + _FEWEST_BATCHES * batch:
            return
        cut = self._cut(residence)
        if now < cut + _FEWEST_BATCHES * batch or self._stop_below is None:
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
                capped = not narrow or len(means) < self._rule.batches
                self._set(interval, means, batch, seconds_left=0.0, done=True, capped=capped)
                return
        self._report(seconds_left=0.0, done=True, capped=True)

    def _interval(
        self, now: float, cut: float, batch: float, *, chosen: bool = False
    ) -> tuple[MeanInterval, tuple[float, ...]]:
        """Interval over whole batches that end now and begin after the cut."""
        width = max(1, round(batch / self._bucket))
        end = round(now / self._bucket)
        count = max(2, int((end - cut / self._bucket) / width + 1e-9))
        sums = self._token_sums
        edges = [end - width * (count - i) for i in range(count + 1)]
        means = tuple((sums[b] - sums[a]) / ((b - a) * self._bucket) for a, b in pairwise(edges))
        interval = batch_means_interval(means, confidence=self._confidence)
        factor = self._rule.factor(count * width * self._bucket, chosen=chosen)
        return replace(interval, half_width=factor * interval.half_width), means

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
