"""The nights' bench: false alarms, regressions noticed, moved optima followed, launches a night.

python -m tests.bench.nights [--hosts N] [--regressions N] [--moves N] [--workers N] [--out FILE]
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small matrices: threads only get in each other's way

from tests.bench.nights.play import Host
from tests.bench.nights.world import CALM, LAUNCH_NOISE, WORTH, World, moved

NIGHTS = 200
HISTORY = 14
"""Nights before a change."""
WON_BACK = 0.5
"""A moved optimum is followed when what is served wins back so much of what the move is worth."""


def calm(world: int, seed: int) -> tuple[int, int, float]:
    """200 nights without change: alarms, changes, mean launches."""
    host = Host(served=CALM[world].best, seed=seed)
    nights = [host.play(CALM[world]) for _ in range(NIGHTS)]
    launches = sum(night.launches for night in nights) / NIGHTS
    return sum(night.drifted for night in nights), sum(night.changed for night in nights), launches


def regression(world: int, seed: int) -> bool:
    """Whether a host that is 10 % slower from one night on is noticed that night."""
    host = _known_host(CALM[world], seed)
    return host.play(CALM[world].slower(0.10), opening_only=True).slower


def move(world: int, change: int, seed: int) -> tuple[bool, bool, bool, int, int]:
    """Whether a moved optimum is followed after one night, after two; changed at all; launches."""
    new = moved(CALM[world])[change]
    host = _known_host(CALM[world], seed)
    first, second = host.play(new), host.play(new)
    allowed = (1.0 - WON_BACK) * new.lost(CALM[world].best)
    after = [new.lost(night.served) <= allowed for night in (first, second)]
    return after[0], after[1], first.changed or second.changed, first.launches, second.launches


def _known_host(world: World, seed: int) -> Host:
    host = Host(served=world.best, seed=1000 + seed)
    for _ in range(HISTORY):
        host.play(world, opening_only=True)
    return host


def _calm_table(pool: ProcessPoolExecutor, hosts: int) -> list[str]:
    lines = [
        f"| {NIGHTS} nights, no change | hosts | alarms | changes | most | hosts <= 2 | launches |",
        "|---|---|---|---|---|---|---|",
    ]
    for place, world in enumerate(CALM):
        found = list(pool.map(calm, [place] * hosts, range(hosts)))
        alarms = [drifts + changes for drifts, changes, _ in found]
        lines.append(
            f"| {world.name} | {hosts} | {sum(each[0] for each in found)} | {sum(each[1] for each in found)} "
            f"| {max(alarms)} | {sum(each <= 2 for each in alarms)} "
            f"| {sum(each[2] for each in found) / hosts:.2f} |"
        )
    return lines


def _regression_table(pool: ProcessPoolExecutor, count: int) -> list[str]:
    lines = ["| 10 % slower from one night on | nights | noticed that night |", "|---|---|---|"]
    for place, world in enumerate(CALM):
        found = list(pool.map(regression, [place] * count, range(count)))
        lines.append(f"| {world.name} | {count} | {sum(found) / count:.1%} |")
    return lines


def _move_table(pool: ProcessPoolExecutor, count: int) -> list[str]:
    lines = [
        "| optimum moved | worth | hosts | changed | followed in 1 night | in 2 | launches |",
        "|---|---|---|---|---|---|---|",
    ]
    total = followed = 0
    for place, world in enumerate(CALM):
        for change, new in enumerate(moved(world)):
            found = list(pool.map(move, [place] * count, [change] * count, range(count)))
            total, followed = total + count, followed + sum(each[1] for each in found)
            shares = [sum(each[at] for each in found) / count for at in (2, 0, 1)]
            launches = [sum(each[at] for each in found) / count for at in (3, 4)]
            lines.append(
                f"| {new.name} | {new.lost(world.best):.1%} | {count} | {shares[0]:.0%} | {shares[1]:.0%} "
                f"| {shares[2]:.0%} | {launches[0]:.1f}, {launches[1]:.1f} |"
            )
    lines.append(f"| all | | {total} | | | {followed / total:.1%} | |")
    return lines


def main(arguments: list[str]) -> None:
    """Play all of it and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.nights", description=__doc__)
    parser.add_argument("--hosts", type=int, default=5)
    parser.add_argument("--regressions", type=int, default=100)
    parser.add_argument("--moves", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    began = time.monotonic()
    command = f"--hosts {asked.hosts} --regressions {asked.regressions} --moves {asked.moves}"
    what = (
        f"`python -m tests.bench.nights {command}`; pure oracle, {LAUNCH_NOISE:.0%} launch-to-launch noise, "
        f"{HISTORY} nights of history before a change, moved optima worth at least {WORTH:.0%}; followed: "
        f"what is served wins back at least {WON_BACK:.0%} of what the move is worth."
    )
    with ProcessPoolExecutor(asked.workers) as pool:
        tables = (
            _calm_table(pool, asked.hosts) if asked.hosts else [],
            _regression_table(pool, asked.regressions) if asked.regressions else [],
            _move_table(pool, asked.moves) if asked.moves else [],
        )
    text = "\n".join(
        ["# Nights in rehearsal", "", what, "", *(line for table in tables for line in (*table, ""))]
    )
    sys.stderr.write(f"{time.monotonic() - began:.0f} s\n")
    print(text)
    if asked.out:
        asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
