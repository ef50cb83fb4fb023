"""The fuzzers themselves: a broken law is found, a kept one is not."""

import dataclasses

from tests.fuzz.by_property import run
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
