"""Where the limits are likely to be kept: from restarts for all figures, from the sweep for what runs."""

import numpy as np
import pytest

from autotune.model.launch import History, LaunchRecord, Outcome, Purpose
from autotune.model.limit import Limit, LimitMetric, LimitStatistic
from autotune.model.measurement import Distribution, OverLimit
from autotune.model.settings import Settings
from autotune.search.feasibility import feasibility

TPOT = Limit(metric=LimitMetric.TPOT, statistic=LimitStatistic.MEAN, bound=50.0, text="tpot:mean<=50ms")
TTFT = Limit(metric=LimitMetric.TTFT, statistic=LimitStatistic.P90, bound=8000.0, text="ttft:p90<=8s")
SIZES = tuple(range(100, 901, 50))


@pytest.fixture
def believe(tools):
    space = tools.space(tune_prefill=False, concurrency=1306)

    def make(launches, limit):
        return feasibility(History(launches=tuple(launches)), space, (limit,), SIZES, draws=200, seed=1)

    return make


def launch(tools, number, size, *levels, purpose=Purpose.CANDIDATE):
    return LaunchRecord(
        number=number,
        purpose=purpose,
        settings=Settings(max_batch_size=size),
        outcome=Outcome.ENDED,
        levels=levels,
    )


def tpot_level(tools, concurrency, size):
    """10 ms + 0.1 ms a running request: 50 ms at 400."""
    return tools.measured(concurrency, 1000.0, 0.01, tpot_ms=Distribution(mean=10.0 + 0.1 * size))


def test_a_sweep_shows_where_the_time_per_token_breaks_its_bound(tools, believe):
    levels = [tpot_level(tools, size, size) for size in (150, 250, 350, 450, 600)]
    found = believe([launch(tools, 1, 1000, *levels, purpose=Purpose.SCOUT)], TPOT)
    chance = dict(zip(SIZES, found.chance, strict=True))
    assert chance[250] > 0.8
    assert chance[600] < 0.15
    assert found.proven == ()


def test_a_restart_tells_whether_the_sweep_lies_close_or_a_world_apart(tools, believe):
    levels = [tpot_level(tools, size, size) for size in (150, 250, 350, 450, 600)]
    swept = launch(tools, 1, 1000, *levels, purpose=Purpose.SCOUT)
    close = believe([swept, launch(tools, 2, 250, tpot_level(tools, 1306, 250))], TPOT)
    apart = believe([swept, launch(tools, 2, 250, tpot_level(tools, 1306, 120))], TPOT)
    at = SIZES.index(600)
    assert close.chance[at] < 0.05
    assert apart.chance[at] > 0.4


def test_the_more_requests_are_counted_the_closer_to_its_bound_a_share_may_lie(tools, believe):
    limit = Limit(metric=LimitMetric.GOODPUT, statistic=LimitStatistic.SHARE, bound=0.9, at_most=False)

    def chance(requests):
        slow = (OverLimit(limit=TPOT.text, over=requests * 8 // 100, requests=requests),)
        level = tools.measured(1306, 1000.0, goodput=0.92, over_limits=slow)
        found = believe([launch(tools, 1, 300, level), launch(tools, 2, 600, level)], limit)
        return found.chance[SIZES.index(450)]

    assert chance(400) < chance(4000)


def test_a_sweep_says_nothing_of_the_first_token_since_nothing_queues_in_it(tools, believe):
    level = tools.measured(300, 1000.0, ttft_ms=Distribution(p90=100.0))
    found = believe([launch(tools, 1, 1000, level, purpose=Purpose.SCOUT)], TTFT)
    assert found.chance == pytest.approx(np.full(len(SIZES), 0.5), abs=0.05)


def test_restarts_are_what_they_were_judged_to_be(tools, believe):
    launches = [
        launch(tools, 1, 300, tpot_level(tools, 1306, 300)),
        launch(tools, 2, 500, tpot_level(tools, 1306, 500)),
    ]
    found = believe(launches, TPOT)
    chance = dict(zip(SIZES, found.chance, strict=True))
    assert (chance[300], chance[500]) == (1.0, 0.0)
    assert found.proven == (300,)
    assert chance[350] > chance[450]


def test_draws_agree_with_the_chances(tools, believe):
    found = believe([launch(tools, 1, 300, tpot_level(tools, 1306, 300))], TPOT)
    assert np.abs(found.draws.mean(axis=0) - found.chance).max() < 0.12


def test_a_percentile_close_below_its_bound_is_not_proven_by_too_few_requests(tools, believe):
    level = tools.measured(
        1306,
        1000.0,
        ttft_ms=Distribution(p90=7900.0),
        over_limits=(OverLimit(limit=TTFT.text, over=9, requests=100),),
    )
    assert believe([launch(tools, 1, 300, level)], TTFT).proven == ()
