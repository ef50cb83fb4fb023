"""Torture: campaigns on the emulated daemon are killed at random instants and meet every disaster.

python -m tests.torture [--kills 200] [--seconds S] [--workers 2] [--seed N] [--only NAME] [--output FILE]

After each attempt: config.json byte for byte as it was, mode and owner too, host settings back, production
answering, no orphan, no finished launch lost, and the campaign resumed to its end. Writes a table, and ends
with 1 when one attempt failed. With --seconds it does what fits into that time.
"""

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tests.torture.attempt import Skipped
from tests.torture.disasters import DISASTERS
from tests.torture.kills import Kill, kill_and_resume
from tests.torture.table import Tally, table
from tests.torture.world import World

KINDS = (
    *((Kill.KILL,) * 5),
    Kill.TERM,
    Kill.INTERRUPT,
    Kill.TWICE,
    Kill.HANG_UP,
)
"""kill -9 more often: it is what `recover` is for."""
FIRST_GUESS_SECONDS = 8.0


@dataclass
class Makers:
    """Makes worlds below one folder, and closes those of an attempt at its end."""

    folder: Path
    rng: random.Random
    numbers: Iterator[int]
    made: list[World] = field(default_factory=list)
    label: str = ""

    def place(self) -> Path:
        return self.folder / f"w{next(self.numbers)}"

    def __call__(self, *, root: Path | None = None, mode: str | None = None, **options: object) -> World:
        options.setdefault("with_production", self.rng.random() < 0.5)
        mode = mode or self.rng.choice(["in-place", "private"])
        world = World(root or self.place(), mode, **options)
        self.made.append(world)
        return world

    def close(self) -> None:
        for world in self.made:
            world.close()


class Torture:
    """All attempts of one call."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="autotune-torture-"))
        self.tally = Tally()
        self.numbers = count(1)
        self.began = time.monotonic()
        self._lock = threading.Lock()
        self._seconds = [FIRST_GUESS_SECONDS]

    def run(self) -> bool:
        with ThreadPoolExecutor(self.options.workers) as pool:
            list(pool.map(self._attempt, self._jobs()))
        shutil.rmtree(self.folder, ignore_errors=True)
        return self.tally.failures == 0

    def _jobs(self) -> Iterator[tuple[int, str]]:
        """What is to be done, disasters spread among the kills."""
        rng = random.Random(self.options.seed)
        kills = [kind.value for kind in (KINDS * self.options.kills)[: self.options.kills]]
        jobs = [*kills, *list(DISASTERS) * self.options.rounds]
        rng.shuffle(jobs)
        if self.options.only:
            jobs = [job for job in jobs if self.options.only in job]
        yield from enumerate(jobs)

    def _attempt(self, job: tuple[int, str]) -> None:
        number, name = job
        if self.options.seconds and time.monotonic() - self.began > self.options.seconds:
            return
        rng = random.Random(f"{self.options.seed} {number}")
        make = Makers(self.folder, rng, self.numbers)
        began = time.monotonic()
        failure = ""
        try:
            self._act(name, make, rng)
        except Skipped as reason:
            self._note(name, "", time.monotonic() - began, skipped=str(reason))
            return
        except Exception:  # noqa: BLE001 - whatever it is, the other attempts go on and the table tells
            failure = traceback.format_exc()
        finally:
            make.close()
        self._note(make.label or name, failure, time.monotonic() - began)

    def _act(self, name: str, make: Makers, rng: random.Random) -> None:
        if name in DISASTERS:
            DISASTERS[name](make, rng)
            return
        world, how = make(), Kill(name)
        make.label = f"{name}, {world.mode}, {'production' if world.with_production else 'no production'}"
        twice = how is Kill.KILL and rng.random() < 0.2
        kill_and_resume(world, how, rng, self._duration, twice=twice)

    def _duration(self) -> float:
        """How long a campaign takes at present, so that kills are spread over all of it."""
        with self._lock:
            recent = self._seconds[-6:]
        return max(recent)

    def _note(self, label: str, failure: str, seconds: float, *, skipped: str = "") -> None:
        with self._lock:
            self.tally.note(label, failure, skipped)
            if not failure and not skipped and "production" in label:
                self._seconds.append(min(60.0, max(3.0, seconds / 3)))
            ending = "FAILED" if failure else f"skipped: {skipped}" if skipped else "ok"
            print(f"{self.tally.attempts:4d}  {label:42s} {seconds:6.1f} s  {ending}", flush=True)
            if failure:
                print(failure, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2, help="how often each disaster is tried")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop to begin attempts after that time")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    torture = Torture(options)
    well = torture.run()
    text = table(torture.tally, seconds=time.monotonic() - torture.began, seed=options.seed)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
