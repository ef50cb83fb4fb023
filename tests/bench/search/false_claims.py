"""False claims: how often a winner is announced between two settings that are equal.

python -m tests.bench.search.false_claims [--runs 1000] [--noise 0.03]

Each run is a whole confirmation around a search that launches one other setting and names it, read by the
product's own windows. Four services: without and with a spread between launches (16 % of the variance of a
standard test), by itself and with cold first launches, drift and outliers; and the scout on a flat curve.
"""

import argparse
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from autotune.model.launch import BudgetLeft, History, Purpose
from autotune.model.move import Finish, Launch, Move, VerdictCode
from autotune.model.settings import Settings
from autotune.search.confirmation import Confirmed
from autotune.search.evidence import reading_move
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.search.strategy import Strategy, make_strategy
from tests.bench.search.curves import Curve
from tests.bench.search.oracle import Conditions, Oracle
from tests.bench.search.ours import played_out, space_of

_INCUMBENT, _OTHER = 200, 300
MOST = 0.062
"""Share of runs that may end with a false winner at 3 % noise."""


class Names:
    """Launches one setting, reads it and names it."""

    def __init__(self, space: Space, settings: Settings) -> None:
        self._space = space
        self._settings = settings

    def next_move(self, history: History) -> Move:
        """The launch, its level, the end."""
        level = reading_move(history, self._space.concurrency, 0.01, reason="read it")
        if level is not None:
            return level
        if history.of(self._settings):
            return Finish(settings=self._settings, code=VerdictCode.IMPROVED, reason="named")
        return Launch(settings=self._settings, purpose=Purpose.CANDIDATE)


def flat_curve(name: str) -> Curve:
    """Every value is as fast as every other."""
    return Curve(
        name=name, family="flat", low=100, start=_INCUMBENT, high=400, bounds_low=100, bounds_high=400,
        incumbent=_INCUMBENT, blocks=1000, step=100, speeds=np.full(401, 2000.0),
    )  # fmt: skip


def claimed(conditions: Conditions, run: int, *, scouted: bool) -> bool:
    """Whether one run announces a winner."""
    curve = flat_curve(f"flat-{run}")
    space, options = space_of(curve), Options(seed=run)
    strategy: Strategy = make_strategy("scout", space, options)
    if not scouted:
        strategy = Confirmed(Names(space, space.settings_for(_OTHER)), space, options)
    oracle = Oracle(curve=curve, conditions=conditions, repetition=run)
    start = History(budget=BudgetLeft(launches=options.max_launches))
    _, finish = played_out(strategy, start, oracle)
    return finish.code is VerdictCode.IMPROVED


def main(arguments: list[str]) -> None:
    """Run every service and print its share."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.search.false_claims", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--noise", type=float, default=0.03)
    asked = parser.parse_args(arguments)
    print("| service | search | runs | false winners |\n|---|---|---|---|")
    for between, dirty, scouted in (
        (0.0, "never", False), (0.16, "never", False), (0.16, "always", False), (0.16, "half", True),
    ):  # fmt: skip
        conditions = Conditions(noise=asked.noise, dirty=dirty, between=between)
        false = sum(claimed(conditions, run, scouted=scouted) for run in range(asked.runs))
        spread, search = "with" if between else "no", "scout" if scouted else "one other"
        print(
            f"| {spread} launch spread, dirty {dirty} | {search} | {asked.runs} | {false / asked.runs:.1%} |"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
