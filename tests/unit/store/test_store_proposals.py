"""Optuna's proposals: inside the ranges, the same for the same question, and away from what failed."""

from autotune.model.proposal import Knob, Tried
from autotune.store.proposals import OptunaProposals

KNOBS = (
    Knob(name="max_batch_size", low=400, high=600),
    Knob(name="prefill_time_ms_per_req", low=10, high=1000),
    Knob(name="support_select_batch", flag=True),
)


def tried(size, speed, violation=0.0):
    values = (("max_batch_size", size), ("prefill_time_ms_per_req", 45))
    return Tried(values=values, tokens_per_second=speed, violation=violation)


def propose(history, number, seed=1):
    return dict(OptunaProposals().propose(KNOBS, history, seed=seed, number=number))


def test_every_value_lies_in_its_range():
    for number in range(20):
        values = propose((tried(500, 3000.0),), number)
        assert 400 <= values["max_batch_size"] <= 600
        assert 10 <= values["prefill_time_ms_per_req"] <= 1000
        assert values["support_select_batch"] in {False, True}


def test_the_same_question_gets_the_same_answer_and_another_number_another():
    history = (tried(500, 3000.0), tried(450, 2900.0))
    assert propose(history, 3) == propose(history, 3)
    assert len({tuple(propose(history, number).items()) for number in range(8)}) == 8


def test_failed_starts_drive_the_sampler_away():
    """Ten good launches at the low end, ten failed ones at the high end."""
    good = tuple(tried(400 + 5 * each, 3000.0 + each) for each in range(10))
    failed = tuple(tried(550 + 5 * each, 0.0, 1.0) for each in range(10))
    sizes = [propose(good + failed, number)["max_batch_size"] for number in range(12)]
    assert sum(size < 520 for size in sizes) >= 9


def test_values_from_outside_the_ranges_are_left_out_and_do_no_harm():
    assert 400 <= propose((tried(200, 2000.0),), 1)["max_batch_size"] <= 600
