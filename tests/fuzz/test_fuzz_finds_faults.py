"""The fuzzers themselves: a broken law is found, a kept one is not."""

import dataclasses

from tests.fuzz.by_property import get_ready, run
from tests.fuzz.outcome import Outcome
from tests.fuzz.table import Row, add_to
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS


def refuses_two_commas(data: bytes) -> None:
    assert b",," not in data


BROKEN = Target(
    name="broken", law="never holds", check=refuses_two_commas, seeds=lambda: (b"1,2,3",), words=(b",",)
)


def test_a_broken_law_is_found_and_its_input_is_small():
    found = run(BROKEN, 20.0, first_seed=1)
    assert found.broken_by is not None
    assert b",," in found.broken_by
    assert len(found.broken_by) < 20
    assert "AssertionError" in found.traceback


def test_a_law_that_holds_is_tried_until_the_time_is_up():
    get_ready()
    found = run(dataclasses.replace(BROKEN, check=bytes), 0.2, first_seed=1)
    assert found.broken_by is None
    assert found.inputs > 0


def test_every_target_begins_from_inputs_that_keep_its_law():
    assert len({target.name for target in TARGETS}) == len(TARGETS)
    for target in TARGETS:
        seeds = list(target.seeds())
        assert seeds, target.name
        for seed in seeds:
            target.check(seed)


def test_a_run_adds_its_row_to_the_page_and_leaves_the_others(tmp_path):
    page, order = tmp_path / "fuzz.md", ["kept", "broken", "gone"]
    for name, inputs in (("broken", 5), ("kept", 1_000), ("broken", 7)):
        outcome = Outcome(inputs=inputs, seconds=300.2)
        target = dataclasses.replace(BROKEN, name=name)
        add_to(page, Row(target=target, by_property=outcome, by_coverage=outcome, under="3.11"), order)
    rows = [line.split(" | ")[0] for line in page.read_text().splitlines() if line.endswith("3.11 |")]
    assert rows == ["| kept", "| broken"]
    assert page.read_text().endswith("\n2 targets, 2,014 inputs, 1,200 CPU seconds, 0 findings.\n")


def test_a_page_with_other_columns_lends_no_rows(tmp_path):
    page = tmp_path / "fuzz.md"
    page.write_text("| target | law | seconds |\n|---|---|---:|\n| kept | never holds | 3 |\n")
    row = Row(target=BROKEN, by_property=Outcome(), by_coverage=Outcome(skipped="no atheris"), under="3.11")
    add_to(page, row, ["kept", "broken"])
    assert "| kept" not in page.read_text()
    assert "| broken | never holds | 0 | not run | - | 0 | 0 | 3.11 |" in page.read_text()
