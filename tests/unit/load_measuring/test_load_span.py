"""The steady span of a test with a fixed number of requests, in virtual time."""

import heapq
import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.load.client.recorder import Bucket
from autotune.load.measuring.span import plateau

WIDTH = 0.1


@dataclass(frozen=True)
class Shape:
    """A server that gives every running stream a token each step, and clients in closed loop."""

    concurrency: int = 128
    requests: int = 256
    shortest: int = 128
    longest: int = 384
    step: float = 0.02
    first: float = 0.1
    ramp: float = 0.0
    capacity: int | None = None
    seed: int = 1


SHAPES = [
    Shape(),
    Shape(seed=2),
    Shape(step=0.01),
    Shape(step=0.05),
    Shape(shortest=256, longest=256),
    Shape(shortest=16, longest=496),
    Shape(first=0.5),
    Shape(first=1.5),
    Shape(ramp=1.0),
    Shape(ramp=3.0),
    Shape(requests=300),
    Shape(requests=512),
    Shape(requests=1319, capacity=100),
    Shape(requests=384, capacity=64),
    Shape(concurrency=32, requests=64),
    Shape(concurrency=32, requests=200, shortest=50, longest=150),
    Shape(concurrency=500, requests=1000, shortest=100, longest=500),
    Shape(concurrency=500, requests=1319, shortest=60, longest=512, step=0.03),
    Shape(concurrency=64, requests=256, shortest=8, longest=64, step=0.005, first=0.02),
    Shape(concurrency=200, requests=420, shortest=100, longest=300, first=0.3, ramp=0.5, step=0.025),
]


def simulated(shape: Shape) -> tuple[list[Bucket], float]:
    """Buckets as the client sees them, and the speed while at least 95 % of the most streams ran."""
    source = random.Random(shape.seed)
    starts = [shape.ramp * index / shape.concurrency for index in range(shape.concurrency)]
    heapq.heapify(starts)
    left, now = shape.requests, 0.0
    waiting: list[float] = []
    running: list[int] = []
    steps, rows = [], []
    while starts or waiting or running:
        now += shape.step
        while starts and starts[0] <= now and left:
            left -= 1
            waiting.append(heapq.heappop(starts) + shape.first)
        if not left:
            starts = []
        free = (shape.capacity or shape.concurrency) - len(running)
        due = sorted(time for time in waiting if time <= now)[:free]
        for time in due:
            waiting.remove(time)
            running.append(source.randint(shape.shortest, shape.longest))
        tokens = len(running)
        running = [length - 1 for length in running]
        ended = running.count(0)
        running = [length for length in running if length]
        for _ in range(ended):
            heapq.heappush(starts, now)
        steps.append((now, tokens))
        rows.append((now, tokens, len(running), len(running) + len(waiting), ended))
    peak = max(tokens for _, tokens in steps)
    places = [place for place, (_, tokens) in enumerate(steps) if tokens >= 0.95 * peak]
    part = steps[places[0] : places[-1] + 1]
    return in_buckets(rows), sum(tokens for _, tokens in part[1:]) / (part[-1][0] - part[0][0])


def in_buckets(rows) -> list[Bucket]:
    count = int(rows[-1][0] / WIDTH) + 1
    buckets = []
    for index in range(count):
        inside = [row for row in rows if index * WIDTH <= row[0] < (index + 1) * WIDTH]
        buckets.append(
            Bucket(
                start=index * WIDTH,
                events=sum(row[1] for row in inside),
                whole_tokens=0,
                running=inside[-1][2] if inside else 0,
                in_flight=inside[-1][3] if inside else 0,
                completions=sum(row[4] for row in inside),
                failures=0,
                told_tokens=0,
                told_events=0,
            )
        )
    return buckets


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: str(SHAPES.index(shape)))
def test_ramp_and_drain_are_kept_out_of_the_reading(shape):
    buckets, truth = simulated(shape)
    span = plateau(buckets, factor=1.0, width=WIDTH, streaming=True)
    assert span.rate == pytest.approx(truth, rel=0.02)


def test_the_whole_run_would_have_read_far_less():
    buckets, truth = simulated(Shape())
    whole = sum(bucket.events for bucket in buckets) / (len(buckets) * WIDTH)
    assert whole < 0.8 * truth


def bucket(running: int, events: int) -> Bucket:
    return Bucket(
        start=0.0,
        events=events,
        whole_tokens=0,
        running=running,
        in_flight=running,
        completions=0,
        failures=0,
        told_tokens=0,
        told_events=0,
    )


def test_no_bucket_gives_no_number():
    assert plateau([], factor=1.0, width=WIDTH, streaming=True).rate is None


def test_a_test_in_which_nothing_ran_gives_no_number():
    assert plateau([bucket(0, 0)] * 5, factor=1.0, width=WIDTH, streaming=True).rate is None


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.floats(0.5, 8.0))
def test_the_speed_scales_with_the_tokens_an_event(counts, factor):
    buckets = [bucket(count, 3 * count) for count in counts]
    one = plateau(buckets, factor=1.0, width=WIDTH, streaming=True)
    more = plateau(buckets, factor=factor, width=WIDTH, streaming=True)
    assert (one.begin, one.end) == (more.begin, more.end)
    if one.rate is not None:
        assert more.rate == pytest.approx(factor * one.rate)
