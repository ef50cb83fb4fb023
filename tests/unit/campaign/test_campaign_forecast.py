"""The forecast: from the steady-window rule, from earlier runs, and anew after every launch."""

from dataclasses import replace

import pytest

from autotune.campaign.forecast import Residence, Timing, forecast, remaining, timing_of
from autotune.model.campaign import Verdict
from autotune.model.launch import LaunchRecord, Outcome, PhaseSeconds, Purpose
from autotune.model.move import VerdictCode
from autotune.model.settings import Settings


def told(strategy="scout", **changes):
    values = {
        "max_launches": 12,
        "timing": Timing(start_seconds=100.0, stop_seconds=20.0, warm_up_seconds=5.0),
        "residence": Residence(restart=20.0, sweep=20.0),
        "cap_seconds": 600.0,
        "time_scale": 1.0,
    }
    return forecast(strategy=strategy, **(values | changes))


@pytest.fixture
def launch(reading):
    def make(number, purpose, measure):
        return LaunchRecord(
            number=number,
            purpose=purpose,
            settings=Settings(max_batch_size=200 + number),
            outcome=Outcome.ENDED,
            levels=(reading(1000.0),),
            seconds=PhaseSeconds(start=60.0, warm_up=5.0, measure=measure, stop=10.0),
        )

    return make


def test_a_scout_takes_one_sweep_and_its_restarts():
    """Seven launches of 125 s around; six restarts of 2 x 20 + 14 x 20 s, one sweep of 8 x (20 + 45) s."""
    assert told().seconds == pytest.approx(7 * 125.0 + 6 * 320.0 + 8 * 60.0)


def test_a_restless_service_is_read_as_long_as_it_may_be():
    """Restarts to the cap, sweep levels 240 s near the peak and 120 s far from it."""
    found = told(residence=Residence(restart=20.0, sweep=20.0, restless=True))
    assert found.seconds == pytest.approx(7 * 125.0 + 6 * 600.0 + 8 * 180.0)


def test_low_usual_and_high_are_in_order_and_inside_the_budget():
    for strategy in ("guide", "scout", "grid", "multi"):
        for most in (1, 3, 12):
            found = told(strategy, max_launches=most)
            assert found.seconds_low <= found.seconds <= found.seconds_high
            assert found.launches_low <= found.launches_high <= most


def test_a_scaled_service_takes_a_scaled_part_of_the_time():
    scaled = told(timing=Timing().scaled(40.0), time_scale=40.0)
    assert scaled.seconds == pytest.approx(told(timing=Timing()).seconds / 40.0)


def test_earlier_runs_tell_restarts_sweeps_and_launches_apart(campaign, launch):
    launches = (
        launch(1, Purpose.INCUMBENT, 200.0),
        launch(2, Purpose.SCOUT, 900.0),
        launch(3, Purpose.CANDIDATE, 300.0),
    )
    answered = Verdict(code=VerdictCode.INCUMBENT_BEST, reason="little can be missed")
    timing = timing_of((replace(campaign, launches=launches, verdict=answered),))
    assert (timing.start_seconds, timing.stop_seconds) == (60.0, 10.0)
    assert (timing.level_seconds, timing.sweep_seconds, timing.launches) == (250.0, 900.0, 3)
    assert told(timing=timing).seconds == pytest.approx(3 * 75.0 + 2 * 250.0 + 900.0)


@pytest.mark.parametrize("code", [VerdictCode.INTERRUPTED, VerdictCode.NOT_MEASURABLE])
def test_a_run_that_was_stopped_does_not_tell_how_many_launches_a_search_takes(campaign, launch, code):
    stopped = replace(
        campaign,
        launches=(launch(1, Purpose.INCUMBENT, 200.0),),
        ended_wall=1.0,
        verdict=Verdict(code=code, reason="stopped"),
    )
    timing = timing_of((stopped,))
    assert (timing.level_seconds, timing.launches) == (200.0, None)


@pytest.mark.parametrize("launches", [1, 30])
def test_the_usual_time_lies_between_the_low_and_the_high_one(launches):
    found = told(max_launches=40, timing=Timing(launches=launches))
    assert found.seconds_low <= found.seconds <= found.seconds_high
    assert found.launches_low <= launches <= found.launches_high


def test_without_a_measured_launch_earlier_runs_tell_nothing(campaign):
    assert timing_of((campaign,)) is None


def test_what_is_left_shrinks_with_every_launch_and_uses_the_time_that_they_took(campaign, launch):
    before = told()
    two = replace(campaign, launches=(launch(1, Purpose.INCUMBENT, 200.0), launch(2, Purpose.SCOUT, 900.0)))
    three = replace(two, launches=(*two.launches, launch(3, Purpose.CANDIDATE, 200.0)))
    first, second = remaining(two, before, 12), remaining(three, before, 12)
    assert first.seconds - second.seconds == pytest.approx(275.0)
    assert remaining(campaign, before, 12) == before
    assert remaining(three, before, 3).seconds == 0.0
