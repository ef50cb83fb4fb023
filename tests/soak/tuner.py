"""Tuner for the soak: `autotune tune` with a search that launches the setting found again and again.

python -m tests.soak.tuner SECONDS CONCURRENCY COMMAND...: after that many seconds the search is over.
"""

import sys
import time
from dataclasses import dataclass

from autotune.campaign import session
from autotune.cli.main import run
from autotune.model.launch import History, Purpose
from autotune.model.move import Finish, Launch, Measure, Move, VerdictCode
from autotune.model.settings import Settings


@dataclass(frozen=True)
class SameAgain:
    """Launch, one level, and again, until the time is up."""

    settings: Settings
    concurrency: int
    until: float

    def next_move(self, history: History) -> Move:
        running = history.running
        if running is not None and not running.levels:
            return Measure(concurrency=self.concurrency, half_width=0.01)
        if time.monotonic() >= self.until:
            return Finish(settings=self.settings, code=VerdictCode.INCUMBENT_BEST, reason="the time is up")
        purpose = Purpose.CONFIRMATION if history.launches else Purpose.INCUMBENT
        return Launch(settings=self.settings, purpose=purpose, reason="soak")


def main() -> int:
    until, concurrency = time.monotonic() + float(sys.argv[1]), int(sys.argv[2])

    def same_again(_name: str, space: object, *_others: object) -> SameAgain:
        return SameAgain(space.incumbent, concurrency, until)

    session.make_strategy = same_again
    return run(sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
