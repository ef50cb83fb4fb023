"""The bound that a verdict shows is the one that the confirmation tested."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.campaign.verdict import verdict_of
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Measurement
from autotune.model.move import Finish, VerdictCode
from autotune.model.settings import Settings

FOUND, WINNER, OTHER = (Settings(max_batch_size=size) for size in (200, 500, 600))


def launch(number, purpose, wanted, speed) -> LaunchRecord:
    level = Measurement(
        concurrency=100,
        tokens_per_second=speed,
        half_width=0.01,
        whole_run_tokens_per_second=speed,
        seconds=60.0,
        requests=500,
        completed=400,
    )
    record = LaunchRecord(number=number, purpose=purpose, settings=wanted)
    return replace(record, levels=(level,), outcome=Outcome.ENDED)


def launches(*more):
    plan = [
        (Purpose.INCUMBENT, FOUND, 1000.0),
        (Purpose.CANDIDATE, WINNER, 1070.0),
        *((Purpose.CONFIRMATION, FOUND, 1004.0), (Purpose.CONFIRMATION, WINNER, 1061.0)),
        *more,
    ]
    return tuple(launch(number, *each) for number, each in enumerate(plan, start=1))


FINISH = Finish(settings=WINNER, code=VerdictCode.IMPROVED)


def test_repeated_launches_of_any_setting_tell_how_much_launches_scatter():
    alone = verdict_of(launches(), FINISH)
    calm = verdict_of(launches(*[(Purpose.CANDIDATE, OTHER, 1020.0 + each) for each in range(6)]), FINISH)
    restless = verdict_of(
        launches(*[(Purpose.CANDIDATE, OTHER, 1020.0 * (0.9 + 0.05 * each)) for each in range(6)]), FINISH
    )
    assert alone.gain == calm.gain == restless.gain
    assert calm.gain_low >= alone.gain_low
    assert restless.gain_low < alone.gain_low


@settings(deadline=None)
@given(st.lists(st.floats(500.0, 2000.0), min_size=1, max_size=4))
def test_a_sweep_is_no_repeated_launch(speeds):
    swept = [(Purpose.SCOUT, WINNER, speed) for speed in speeds]
    assert verdict_of(launches(*swept), FINISH).gain_low == verdict_of(launches(), FINISH).gain_low
