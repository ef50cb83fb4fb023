"""Whether the stated interval holds the truth, and how long it takes to get narrow: in virtual time.

A service of 3,000 token/s whose speed wanders (AR(1), time constant 20 s), 256 running requests that stay
12 s: the level's watch and window as in a real test, 200 runs a line.
"""

import math
import random
import statistics
from dataclasses import dataclass

from autotune.load.client.recorder import Bucket
from autotune.load.measuring.thorough import stated, sure_at, window_half_width
from autotune.load.measuring.watch import LevelWatch, WatchRules
from autotune.statistics.window import SteadyWindow, WindowStatus

RATE, RUNNING, RESIDENCE, TAU, WIDTH = 3000.0, 256, 12.0, 20.0, 0.5
RUNS, CAP = 200, 1200.0


@dataclass(frozen=True)
class Line:
    """200 runs at one wander and one wanted half-width."""

    wander: float
    wanted: float
    held: int
    seconds: float
    capped: int


def run(seed: int, wander: float, wanted: float) -> tuple[WindowStatus, float]:
    source = random.Random(seed)
    window = SteadyWindow(half_width=window_half_width(wanted), cap_seconds=CAP)
    rules = WatchRules(
        concurrency=RUNNING, bucket_seconds=WIDTH, stall_seconds=math.inf, sure_at=sure_at(wanted)
    )
    watch = LevelWatch(rules=rules, window=window)
    keep = math.exp(-WIDTH / TAU)
    drift, count, carried = source.gauss(0.0, wander), 0, 0.0
    while True:
        drift = keep * drift + source.gauss(0.0, wander * math.sqrt(1 - keep * keep))
        filled = min(1.0, (count + 1) * WIDTH / RESIDENCE)
        carried += RUNNING * WIDTH / RESIDENCE * (filled if filled == 1.0 else 0.0)
        ended, carried = int(carried), carried - int(carried)
        tokens = RATE * filled * WIDTH * (1 + drift) * (1 + source.gauss(0.0, 0.02))
        count += 1
        if watch.see([bucket(round(tokens), round(RUNNING * filled), ended)]):
            return window.status(), count * WIDTH


def bucket(tokens: int, running: int, ended: int) -> Bucket:
    return Bucket(
        start=0.0,
        events=tokens,
        whole_tokens=0,
        running=running,
        in_flight=RUNNING,
        completions=ended,
        failures=0,
        told_tokens=ended,
        told_events=ended,
    )


def line(wander: float, wanted: float) -> Line:
    held, capped, seconds = 0, 0, []
    for seed in range(RUNS):
        status, took = run(seed, wander, wanted)
        error = abs(status.tokens_per_second / RATE - 1)
        held += error <= stated(wanted, status.half_width)
        capped += took >= CAP
        seconds.append(took)
    return Line(wander, wanted, held, statistics.median(seconds), capped)


def main() -> None:
    print("wander  wanted  stated interval holds truth  median seconds  capped")
    for wander in (0.0, 0.01, 0.03):
        for wanted in (0.01, 0.02):
            one = line(wander, wanted)
            print(
                f"{one.wander:>6.0%} {one.wanted:>7.0%} {one.held:>23}/{RUNS}"
                f" {one.seconds:>15.0f} {one.capped:>7}",
                flush=True,
            )


if __name__ == "__main__":
    main()
