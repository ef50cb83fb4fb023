"""Whether the stated interval holds the truth, and how long it takes to get narrow.

`intervals.py` runs in virtual time: a service of 3,000 token/s whose speed wanders (AR(1), time constant
20 s), 256 running requests that stay 12 s; the level's watch and window as in a real test, 200 runs a line,
for single tests and final levels (`final`) and for sweep levels (`quick`). `intervals.py real` runs
`autotune load` against a real server process whose speed wanders by the same law, on a quiet machine.
"""

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from autotune.load.client.recorder import Bucket
from autotune.load.measuring.watch import LevelWatch, WatchRules
from autotune.statistics.window import QUICK_FROM, SteadyWindow, WindowStatus

RATE, RUNNING, RESIDENCE, TAU, WIDTH = 3000.0, 256, 12.0, 20.0, 0.5
RUNS, CAP = 200, 1200.0
WANDERS = (0.0, 0.01, 0.03)
SERVER = Path(__file__).with_name("mock_server.py")


@dataclass(frozen=True)
class Line:
    """Some runs at one wander and one wanted half-width."""

    rule: str
    wander: float
    wanted: float
    held: int
    runs: int
    seconds: float
    half_width: float


def run(seed: int, wander: float, wanted: float, *, quick: bool) -> tuple[WindowStatus, float, float]:
    """The window's end, the seconds that it took, and the half-width that is stated."""
    source = random.Random(seed)
    window = SteadyWindow(half_width=wanted, cap_seconds=CAP, alone=not quick)
    rules = WatchRules(
        concurrency=RUNNING,
        bucket_seconds=WIDTH,
        stall_seconds=math.inf,
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
            status = window.status()
            return status, count * WIDTH, status.half_width


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


def virtual_line(rule: str, wander: float, wanted: float, runs: int) -> Line:
    held, seconds, halves = 0, [], []
    for seed in range(runs):
        status, took, half = run(seed, wander, wanted, quick=rule == "quick")
        held += abs(status.tokens_per_second / RATE - 1) <= half
        seconds.append(took)
        halves.append(half)
    return Line(rule, wander, wanted, held, runs, statistics.median(seconds), statistics.median(halves))


def real_line(wander: float, wanted: float, runs: int, cap: float) -> Line:
    """Truth is what the server's law means in the long run, not what it did during the test."""
    held, seconds, halves = 0, [], []
    for seed in range(runs):
        options = [
            "--step-ms",
            str(1000 * STEP_SECONDS),
            "--vary",
            "1",
            "--wander",
            str(wander),
            "--wander-seed",
            str(seed),
        ]
        argv = ["taskset", "-c", "0", sys.executable, str(SERVER), *options]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            port = int(server.stdout.readline())
            document = load(port, wanted, cap)
            truth = tokens_a_step(port) / STEP_SECONDS
            server.kill()
        error = abs(document["tokens_per_second"] / truth - 1)
        held += error <= document["half_width"]
        seconds.append(document["seconds"])
        halves.append(document["half_width"])
        print(
            f"  wander {wander:.0%} run {seed + 1}: off by {error:.2%}, stated {halves[-1]:.2%}", flush=True
        )
    return Line("real", wander, wanted, held, runs, statistics.median(seconds), statistics.median(halves))


REAL_CLIENTS = 64
STEP_SECONDS = 0.02


def tokens_a_step(port: int) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/truth", timeout=60) as reply:
        return json.loads(reply.read())["tokens_per_step"]


def load(port: int, wanted: float, cap: float) -> dict:
    argv = [
        *("taskset", "-c", "1", sys.executable, "-m", "autotune", "load", "--json"),
        *("--url", f"http://127.0.0.1:{port}", "--api", "openai", "--model", "m", "--input-tokens", "32"),
        *("--concurrency", str(REAL_CLIENTS), "--output-tokens", "200"),
        *("--half-width", str(wanted), "--cap", f"{cap}s"),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=cap + 120, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=("virtual", "real"), nargs="?", default="virtual")
    parser.add_argument("--runs", type=int, default=None, help="a line; 200 in virtual time, 5 real ones")
    parser.add_argument("--cap", type=float, default=240.0, help="seconds of a real run")
    options = parser.parse_args()
    print("rule   wander  wanted  interval holds truth  median seconds  median stated", flush=True)
    if options.mode == "real":
        for wander in WANDERS:
            show(real_line(wander, 0.02, options.runs or 5, options.cap))
        return
    for rule, widths in (("final", (0.01, 0.02)), ("quick", (0.02, 0.03, 0.05))):
        for wander in WANDERS:
            for wanted in widths:
                assert rule == "final" or wanted > QUICK_FROM
                show(virtual_line(rule, wander, wanted, options.runs or RUNS))


def show(line: Line) -> None:
    print(
        f"{line.rule:<6}{line.wander:>7.0%} {line.wanted:>7.0%} {line.held:>17}/{line.runs}"
        f" {line.seconds:>15.0f} {line.half_width:>14.2%}",
        flush=True,
    )


if __name__ == "__main__":
    main()
