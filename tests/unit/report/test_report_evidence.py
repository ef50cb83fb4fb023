from dataclasses import replace

from autotune.model.launch import Purpose
from autotune.report.evidence import (
    PointKind,
    best,
    elapsed_seconds,
    failed_values,
    incumbent,
    points,
    reasons,
    total_seconds,
)

from . import example_campaigns as examples


def test_every_restart_is_one_point_and_every_sweep_level_too():
    measured = points(examples.with_failures())
    kinds = [point.kind for point in measured]
    assert kinds.count(PointKind.SWEEP) == 6
    assert kinds.count(PointKind.CANDIDATE) == 2
    assert [point.batch for point in measured if point.kind is PointKind.SWEEP][:2] == [120.0, 190.0]


def test_an_invalid_level_is_no_point():
    assert 560.0 not in [point.batch for point in points(examples.with_failures())]


def test_a_sweep_without_running_counts_is_drawn_at_what_could_run():
    level = replace(examples.level(850, 2900.0), running_mean=None)
    sweep = examples.launch(1, Purpose.SCOUT, 850, level)
    (point,) = points(replace(examples.guide(), launches=(sweep,)))
    assert point.batch == 850.0


def test_an_interval_is_a_share_of_the_reading():
    point = points(examples.guide())[0]
    assert (round(point.low, 1), round(point.high, 1)) == (2816.8, 2873.8)


def test_failed_values_keep_their_cause():
    found = [(failure.batch, failure.cause.value) for failure in failed_values(examples.with_failures())]
    assert found == [(1000, "memory"), (500, "port")]


def test_reasons_belong_to_the_launch_they_asked_for():
    campaign = examples.guide()
    assert reasons(campaign)[3] == "next multiple of 100"
    assert reasons(campaign)[5] == "confirm the incumbent in a fresh launch"


def test_after_a_resume_the_last_reason_counts():
    campaign = examples.interrupted()
    again = replace(campaign.decisions[1], reason="again after the crash")
    campaign = replace(campaign, decisions=(*campaign.decisions[:2], again))
    assert reasons(campaign)[2] == "again after the crash"


def test_without_a_verdict_the_launches_speak():
    campaign = examples.interrupted()
    kept, found = incumbent(campaign), best(campaign)
    assert kept is not None
    assert found is not None
    assert (kept.settings.max_batch_size, found.settings.max_batch_size) == (435, 500)


def test_a_sweep_is_never_recommended():
    sweep = examples.with_failures().launches[1]
    assert best(replace(examples.interrupted(), launches=(sweep,))) is None


def test_times_add_up():
    campaign = examples.guide()
    assert total_seconds(campaign).total == sum(launch.seconds.total for launch in campaign.launches)
    assert elapsed_seconds(campaign) == 4215
    assert elapsed_seconds(examples.interrupted()) == 2 * 793.0
