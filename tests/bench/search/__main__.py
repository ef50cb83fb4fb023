"""The search bench: our strategies and their rivals on the same curves with the same luck.

python -m tests.bench.search [--split dev|test] [--strategy S]... [--noise 0.02]... [--curves FILE]
                             [--json OUT]

What counts for our strategies is the answer of the whole campaign, after the confirmation, and the hours
with it; rivals choose their highest reading and confirm nothing. `found` is what the search named before the
confirmation.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small matrices: threads only get in each other's way

import numpy as np

from autotune.search.options import Options
from autotune.search.strategy import NAMES
from tests.bench.search.curves import BadCurves, Curve, bench_curves, read_curves
from tests.bench.search.oracle import Conditions, Oracle
from tests.bench.search.ours import play
from tests.bench.search.rivals import RIVALS


@dataclass(frozen=True, kw_only=True)
class Study:
    """One campaign of one method on one curve."""

    family: str
    name: str = ""
    code: str = ""
    """The verdict; rivals have none."""
    incumbent: float = 0.0
    """Regret of the incumbent."""
    found: float
    """Regret of what the search found."""
    answer: float
    """Regret of the answer after confirmation; rivals have none."""
    loss: float
    """How much worse than the incumbent the answer is; negative for a gain."""
    launches: int
    confirmed: int
    search_hours: float
    """Before the confirmation."""
    hours: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method at one noise."""

    method: str
    noise: float
    within_1pct: float
    within_2pct: float
    mean_regret: float
    found_within_1pct: float
    found_within_2pct: float
    worse_than_incumbent: float
    mean_launches: float
    mean_launches_with_confirmation: float
    mean_search_hours: float
    mean_hours: float
    studies: int


def run_study(method: str, curve: Curve, conditions: Conditions, repetition: int, budget: int) -> Study:
    """One method on one curve once."""
    oracle = Oracle(curve=curve, conditions=conditions, repetition=repetition)
    if method in RIVALS:
        found = answer = RIVALS[method](oracle, np.random.default_rng([repetition, 7]))
        launches = confirmed = oracle.launches
        search_seconds, code = oracle.seconds, ""
    else:
        played = play(method, oracle, Options(step=curve.step, max_launches=budget, seed=repetition))
        found, answer = played.found, played.answer
        launches, confirmed = played.launches, played.confirmed_launches
        search_seconds, code = played.search_seconds, played.code
    speed = 0.0 if answer is None or not curve.works(answer) else float(curve.speeds[answer])
    return Study(
        family=curve.family,
        name=curve.name,
        code=code,
        incumbent=curve.regret(curve.incumbent),
        found=curve.regret(found),
        answer=curve.regret(answer),
        loss=1.0 - speed / float(curve.speeds[curve.incumbent]),
        launches=launches,
        confirmed=confirmed,
        search_hours=search_seconds / 3600.0,
        hours=oracle.seconds / 3600.0,
    )


def summed_up(method: str, noise: float, studies: list[Study]) -> Row:
    """Means over studies."""

    def share(values: list[bool]) -> float:
        return sum(values) / len(values)

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    return Row(
        method=method,
        noise=noise,
        within_1pct=share([each.answer <= 0.01 for each in studies]),
        within_2pct=share([each.answer <= 0.02 for each in studies]),
        mean_regret=mean([each.answer for each in studies]),
        found_within_1pct=share([each.found <= 0.01 for each in studies]),
        found_within_2pct=share([each.found <= 0.02 for each in studies]),
        worse_than_incumbent=share([each.loss > 0.01 for each in studies]),
        mean_launches=mean([each.launches for each in studies]),
        mean_launches_with_confirmation=mean([each.confirmed for each in studies]),
        mean_search_hours=mean([each.search_hours for each in studies]),
        mean_hours=mean([each.hours for each in studies]),
        studies=len(studies),
    )


def as_markdown(rows: list[Row]) -> str:
    """The table."""
    heads = (
        "method", "noise", "within 1 %", "within 2 %", "mean regret", "found 1 % / 2 %",
        "> 1 % worse than incumbent", "launches", "with confirmation", "hours before it", "hours",
    )  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        cells = (
            row.method,
            f"{row.noise:.1%}",
            f"{row.within_1pct:.0%}",
            f"{row.within_2pct:.0%}",
            f"{row.mean_regret:.1%}",
            f"{row.found_within_1pct:.0%} / {row.found_within_2pct:.0%}",
            f"{row.worse_than_incumbent:.1%}",
            f"{row.mean_launches:.1f}",
            f"{row.mean_launches_with_confirmation:.1f}",
            f"{row.mean_search_hours:.2f}",
            f"{row.mean_hours:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def as_json(rows: list[Row]) -> dict[str, object]:
    """{strategy: figures}; with several noises, {noise: {strategy: figures}}."""
    by_noise: dict[str, object] = {}
    for noise in sorted({row.noise for row in rows}):
        by_noise[f"{noise:g}"] = {row.method: asdict(row) for row in rows if row.noise == noise}
    return by_noise if len(by_noise) > 1 else {row.method: asdict(row) for row in rows}


def _work(job: tuple[str, Curve, Conditions, int, int]) -> Study:
    return run_study(*job)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.search", description=__doc__)
    parser.add_argument("--split", choices=["dev", "test"], default="dev")
    parser.add_argument("--strategy", action="append", help="of ours or a rival; default: all")
    parser.add_argument("--noise", action="append", type=float)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--budget", type=int, default=12)
    parser.add_argument("--every", type=int, default=1, help="take only each n-th curve")
    parser.add_argument("--family", action="append")
    parser.add_argument("--dirty", choices=["half", "never", "always"], default="half")
    parser.add_argument("--bias", nargs=2, type=float, default=[-0.04, 0.04], metavar=("LOW", "HIGH"))
    parser.add_argument("--curves", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--by-family", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args(arguments)


def _print_families(families: dict[tuple[str, float], list[Study]]) -> None:
    for (method, noise), studies in families.items():
        for family in sorted({each.family for each in studies}):
            row = summed_up(method, noise, [each for each in studies if each.family == family])
            print(
                f"{method:18} {noise:.1%} {family:14} {row.within_1pct:4.0%} {row.within_2pct:4.0%} "
                f"{row.mean_regret:6.2%} {row.found_within_2pct:4.0%} {row.worse_than_incumbent:5.1%} "
                f"{row.mean_launches:5.1f} {row.mean_launches_with_confirmation:5.1f} {row.mean_hours:5.2f}"
            )


def main(arguments: list[str]) -> None:
    """Run what is asked for and print the table."""
    asked = parse(arguments)
    try:
        curves = read_curves(asked.curves) if asked.curves else bench_curves(asked.split)
    except BadCurves as error:
        sys.exit(f"{error}")
    curves = [curve for curve in curves if not asked.family or curve.family in asked.family][:: asked.every]
    rows: list[Row] = []
    families: dict[tuple[str, float], list[Study]] = {}
    with ProcessPoolExecutor(asked.workers) as pool:
        for noise in asked.noise or [0.02]:
            conditions = Conditions(noise=noise, dirty=asked.dirty, bias=tuple(asked.bias))
            for method in asked.strategy or [*NAMES, *RIVALS]:
                before = time.monotonic()
                pairs = [(curve, repetition) for curve in curves for repetition in range(asked.repetitions)]
                jobs = [(method, curve, conditions, repetition, asked.budget) for curve, repetition in pairs]
                studies = list(pool.map(_work, jobs, chunksize=8))
                rows.append(summed_up(method, noise, studies))
                families[method, noise] = studies
                sys.stderr.write(f"{method} at {noise:.1%}: {time.monotonic() - before:.0f} s\n")
    print(as_markdown(rows))
    if asked.by_family:
        _print_families(families)
    if asked.json:
        asked.json.write_text(json.dumps(as_json(rows), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
