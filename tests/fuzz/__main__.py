"""Fuzz every parser: `python -m tests.fuzz --seconds 600`; see `make fuzz`."""

import argparse
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from tests.fuzz import by_coverage, by_property
from tests.fuzz.outcome import Outcome
from tests.fuzz.table import Row, add_to
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

FOUND = Path(".fuzz")
BY_COVERAGE = 0.5
"""Share of a target's time that the coverage leads."""


def main() -> int:
    """Fuzz the targets one after the other, two processes at a time; 1 when something was found."""
    options = _options()
    chosen = [target for target in TARGETS if options.only in target.name]
    if not chosen:
        print(f"no target is named like {options.only!r}: {', '.join(target.name for target in TARGETS)}")
        return 2
    by_property.get_ready()
    findings = 0
    with ThreadPoolExecutor(max_workers=1) as beside:
        for target in chosen:
            row = _fuzzed(target, options.seconds, options.seed, beside)
            findings += row.findings
            if options.report:
                add_to(options.report, row, [one.name for one in TARGETS])
    print(f"{len(chosen)} targets, {findings} findings")
    return 1 if findings else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="of CPU, for each target")
    parser.add_argument("--only", default="", help="only targets whose name holds this")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="put the counts on this page")
    return parser.parse_args()


def _fuzzed(target: Target, seconds: float, seed: int, beside: ThreadPoolExecutor) -> Row:
    guided = beside.submit(by_coverage.run, target, seconds * BY_COVERAGE, first_seed=seed)
    own = by_property.run(target, seconds * (1 - BY_COVERAGE), first_seed=seed)
    under = f"{platform.python_version()}, {time.strftime('%Y-%m-%d')}"
    row = Row(target=target, by_property=own, by_coverage=guided.result(), under=under)
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
