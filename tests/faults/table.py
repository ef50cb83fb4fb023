"""The fault table: every fault in its phase, what a campaign says of it, and how soon.

`python -m tests.faults.table` plays every fault and writes reports/bench/faults.md.
"""

import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.fault_list import RUNS
from tests.faults.fault_runs import FaultRun, Outcome, run_fault

TABLE = Path(__file__).parents[2] / "reports" / "bench" / "faults.md"
HEAD = """# Faults
Every fault that the emulated daemon can be told to have, and those of its host, one campaign each: the class,
the first words, the exit code of a campaign that met nothing else, and for a daemon that dies the time from
its death to its classification. All emulated; the start limit, the answer limit and the grace of a stop are
shortened from 15 min, 120 s and 30 s. Made by `python -m tests.faults.table`; a test plays every row again.

| phase | fault | class | message | exit code | noticed after |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """What is checked in of one fault."""

    phase: str
    fault: str
    cause: str
    message: str
    exit_code: int
    noticed: str


def row_of(case: FaultRun, outcome: Outcome) -> Row:
    """The row of a fault that was played."""
    seconds = outcome.noticed_seconds
    return Row(
        phase=case.phase,
        fault=case.name,
        cause=outcome.cause,
        message=outcome.message.replace("|", "\\|").replace("\n", " "),
        exit_code=outcome.exit_code,
        noticed="-" if seconds is None else f"{seconds:.2f} s",
    )


def written(rows: Iterable[Row]) -> str:
    """The whole table."""
    lines = (
        f"| {row.phase} | {row.fault} | {row.cause} | {row.message} | {row.exit_code} | {row.noticed} |\n"
        for row in rows
    )
    return HEAD + "".join(lines)


def read_rows(text: str) -> dict[str, Row]:
    """The rows of a table by the name of their fault."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|")]
        if len(cells) != len(Row.__annotations__) or not cells[4].isdecimal():
            continue
        phase, fault, cause, message, code, noticed = (cell.replace("\0", "\\|") for cell in cells)
        rows[fault] = Row(phase, fault, cause, message, int(code), noticed)
    return rows


def main() -> int:
    """Play every fault and write the table."""
    rows = []
    for case in RUNS:
        with tempfile.TemporaryDirectory() as directory:
            rows.append(row_of(case, run_fault(case, Path(directory))))
        row = rows[-1]
        print(f"{row.phase:6} {row.fault:45} {row.cause:28} {row.exit_code} {row.noticed}", flush=True)
    TABLE.write_text(written(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
