"""Fuzz every parser: `python -m tests.fuzz --seconds 600`; see `make fuzz`."""

import argparse
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from tests.fuzz import by_coverage, by_property
from tests.fuzz.outcome import Outcome
from tests.fuzz.table import Row, table
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

FOUND = Path(".fuzz")
BY_COVERAGE = 0.5
"""Share of a target's time that the coverage leads."""


def main() -> int:
    """Fuzz the targets one after the other, two processes at a time; 1 when something was found."""
    options = _options()
    chosen = [target for target in TARGETS if not options.target or options.target in target.name]
    by_property.get_ready()
    with ThreadPoolExecutor(max_workers=1) as beside:
        rows = [_fuzzed(target, options.seconds, options.seed, beside) for target in chosen]
    page = table(rows, command=f"make fuzz SECONDS={options.seconds:g}", python=platform.python_version())
    if options.report:
        options.report.write_text(page, encoding="utf-8")
    print(page.splitlines()[-1])
    return 1 if any(row.findings for row in rows) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="for each target, both fuzzers together")
    parser.add_argument("--target", default="", help="only targets whose name holds this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="write the counts there")
    return parser.parse_args()


def _fuzzed(target: Target, seconds: float, seed: int, beside: ThreadPoolExecutor) -> Row:
    guided = beside.submit(by_coverage.run, target, seconds * BY_COVERAGE, first_seed=seed)
    own = by_property.run(target, seconds * (1 - BY_COVERAGE), first_seed=seed)
    row = Row(target=target, by_property=own, by_coverage=guided.result())
    print(
        f"{target.name}: {own.inputs} + {row.by_coverage.inputs} inputs, {row.findings} findings"
        f"{'; ' + row.by_coverage.skipped if row.by_coverage.skipped else ''}",
        flush=True,
    )
    for outcome in (own, row.by_coverage):
        _tell(target, outcome)
    return row


def _tell(target: Target, outcome: Outcome) -> None:
    if outcome.broken_by is None:
        return
    FOUND.mkdir(exist_ok=True)
    name = "-".join(target.name.replace(",", "").split())
    path = FOUND / f"{name}-{sha256(outcome.broken_by).hexdigest()[:12]}"
    path.write_bytes(outcome.broken_by)
    print(f"  {path}: {outcome.broken_by[:200]!r}\n{outcome.traceback}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
