"""Every fault is told as the checked-in table says: class, message, exit code, and soon."""

import pytest

from tests.faults.fault_list import RUNS
from tests.faults.fault_runs import FaultRun, run_fault
from tests.faults.table import TABLE, Row, read_rows, row_of, written

ROWS = read_rows(TABLE.read_text(encoding="utf-8"))
SOON_SECONDS = 2.0


@pytest.mark.slow
@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.name)
def test_a_fault_is_told_as_the_table_says(case, tmp_path):
    outcome = run_fault(case, tmp_path)
    row, known = row_of(case, outcome), ROWS[case.name]
    assert (row.phase, row.cause, row.message, row.exit_code) == (
        known.phase, known.cause, known.message, known.exit_code,
    )  # fmt: skip
    if case.kills:
        assert outcome.noticed_seconds is not None
        assert outcome.noticed_seconds <= SOON_SECONDS


def test_the_table_holds_every_fault_and_no_other():
    assert list(ROWS) == [case.name for case in RUNS]


def test_every_phase_has_its_faults():
    assert list(dict.fromkeys(row.phase for row in ROWS.values())) == [
        "start", "ready", "load", "stop",
    ]  # fmt: skip


def test_a_table_is_read_back_as_it_was_written():
    rows = [Row("start", "a", "config", "x \\| y", 5, "0.10 s"), Row("load", "b", "none", "z", 0, "-")]
    assert list(read_rows(written(rows)).values()) == rows


def test_names_are_unique():
    assert len({case.name for case in RUNS}) == len(RUNS)
    assert all(isinstance(case, FaultRun) for case in RUNS)
