"""What the limits did: from the launches alone, with the reason why the next value is not recommended."""

import pytest

from autotune.campaign.limit_findings import limit_findings
from autotune.campaign.verdict import reading_of
from autotune.model.campaign import Verdict
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.limit import Limit, LimitMetric, LimitStatistic
from autotune.model.measurement import Distribution, OverLimit
from autotune.model.move import VerdictCode
from autotune.model.settings import Settings

TPOT = Limit(metric=LimitMetric.TPOT, statistic=LimitStatistic.MEAN, bound=50.0, text="tpot:mean<=50ms")
TTFT = Limit(metric=LimitMetric.TTFT, statistic=LimitStatistic.P99, bound=1000.0, text="ttft:p99<=1s")


@pytest.fixture
def launch(reading):
    from dataclasses import replace

    def make(number, size, speed, tpot, over=0):
        level = replace(
            reading(speed),
            tpot_ms=Distribution(mean=tpot),
            ttft_ms=Distribution(p99=900.0),
            over_limits=(OverLimit(limit=TTFT.text, over=over, requests=1000),),
        )
        return LaunchRecord(
            number=number,
            purpose=Purpose.CANDIDATE,
            settings=Settings(max_batch_size=size),
            outcome=Outcome.ENDED,
            levels=(level,),
        )

    return make


def verdict(launches, size):
    best = reading_of(launches, Settings(max_batch_size=size))
    return Verdict(code=VerdictCode.IMPROVED, reason="", best=best)


def test_the_table_holds_every_restart_and_says_what_the_limit_costs(launch):
    """The vendor guide's readings: 46.97 ms at 100, 49.85 at 150, 60.19 at 200."""
    launches = [launch(1, 200, 2845.0, 60.19), launch(2, 100, 2100.0, 46.97), launch(3, 150, 2500.0, 49.0)]
    found = limit_findings(launches, (TPOT,), verdict(launches, 150))
    assert [row.settings.max_batch_size for row in found.rows] == [100, 150, 200]
    assert [row.kept for row in found.rows] == [True, True, False]
    assert found.fastest.settings.max_batch_size == 200
    assert found.cost == pytest.approx(1.0 - 2500.0 / 2845.0)
    assert (found.next_size, found.next_reason) == (200, "200 breaks tpot:mean<=50ms: 60.2 ms")


def test_a_percentile_needs_enough_requests_without_a_violation(launch):
    """1,000 requests: 2 beyond the bound prove a 99th percentile at 99 %, 8 prove nothing, 30 break it."""
    launches = [
        launch(1, 100, 1000.0, 1.0, 2),
        launch(2, 200, 1500.0, 1.0, 8),
        launch(3, 300, 1600.0, 1.0, 30),
    ]
    found = limit_findings(launches, (TTFT,), verdict(launches, 100))
    assert [row.values[0].judgement for row in found.rows] == ["kept", "open", "broken"]
    assert found.next_reason == "200 does not surely keep ttft:p99<=1s: 900.0 ms"


def test_what_another_setting_beats_in_everything_is_not_efficient(launch):
    launches = [launch(1, 100, 1000.0, 40.0), launch(2, 200, 900.0, 45.0), launch(3, 300, 1600.0, 60.0)]
    found = limit_findings(launches, (TPOT,), verdict(launches, 100))
    assert [row.efficient for row in found.rows] == [True, False, True]


def test_without_limits_there_is_nothing_to_find(launch):
    launches = [launch(1, 100, 1000.0, 40.0)]
    assert limit_findings(launches, (), verdict(launches, 100)) is None


def test_when_nothing_keeps_the_limit_the_nearest_to_it_says_why(launch):
    launches = [launch(1, 100, 1000.0, 70.0), launch(2, 50, 800.0, 60.0)]
    unmet = Verdict(code=VerdictCode.LIMIT_UNMET, reason="")
    found = limit_findings(launches, (TPOT,), unmet)
    assert found.cost is None
    assert found.next_reason.startswith("50 breaks")
