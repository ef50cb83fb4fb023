"""Limits: what breaks one is not recommended, and the best that keeps it is."""

import pytest

from autotune.model.launch import Purpose
from autotune.model.limit import Limit, LimitMetric, LimitStatistic
from autotune.model.measurement import Distribution, FailureCount
from autotune.model.move import Launch, VerdictCode
from autotune.model.settings import Settings
from autotune.search.confirmation import Confirmed
from autotune.search.evidence import no_reading, reading_move
from autotune.search.limits import judge, value_of
from autotune.search.options import Options
from autotune.search.strategy import make_strategy
from autotune.statistics.shares import Judgement

TPOT_50 = Limit(metric=LimitMetric.TPOT, statistic=LimitStatistic.MEAN, bound=50.0, text="tpot:mean<=50ms")


def read(tools, per_request_ms=0.1):
    """Throughput rises with the batch, and so does the time per token: 10 ms + 0.1 ms a request."""

    def level(launch, move):
        size = min(launch.settings.max_batch_size, move.concurrency)
        tpot = Distribution(mean=10.0 + per_request_ms * size)
        return tools.measured(move.concurrency, 4000.0 * size / (size + 200.0), tpot_ms=tpot)

    return level


def strategy(tools, name, incumbent=200):
    space = tools.space(incumbent=Settings(max_batch_size=incumbent), tune_prefill=False, blocks=1500)
    return make_strategy(name, space, Options(limits=(TPOT_50,), step=30))


@pytest.mark.parametrize("name", ["guide", pytest.param("scout", marks=pytest.mark.slow)])
def test_the_best_value_that_keeps_the_limit_is_found(tools, name):
    """The limit binds at 400 requests."""
    played = tools.play(strategy(tools, name), read(tools), launches=14)
    assert played.finish.code is VerdictCode.IMPROVED
    assert 370 <= played.finish.settings.max_batch_size <= 400


def test_when_nothing_keeps_the_limit_the_verdict_says_so(tools):
    played = tools.play(strategy(tools, "guide"), read(tools, per_request_ms=20.0))
    assert (played.finish.code, played.finish.settings) == (VerdictCode.LIMIT_UNMET, None)


class Fruitless:
    """Reads one candidate and says that nothing was read: what breaks a limit is no reading to a strategy."""

    def __init__(self, space):
        self.settings = space.settings_for(300)

    def next_move(self, history):
        level = reading_move(history, 1306, 0.01, reason="")
        if level is not None:
            return level
        if history.of(self.settings):
            return no_reading("no restart gave a reading")
        return Launch(settings=self.settings, purpose=Purpose.CANDIDATE)


def test_where_only_the_incumbent_keeps_the_limit_the_reason_names_the_limit(tools):
    def level(launch, move):
        broken = launch.settings.max_batch_size != 200
        return tools.measured(move.concurrency, 3000.0, tpot_ms=Distribution(mean=80.0 if broken else 40.0))

    space = tools.space(incumbent=Settings(max_batch_size=200), tune_prefill=False, blocks=1500)
    finish = tools.play(Confirmed(Fruitless(space), space, Options(limits=(TPOT_50,))), level).finish
    assert (finish.code, finish.settings.max_batch_size) == (VerdictCode.INCUMBENT_BEST, 200)
    assert finish.reason == "no other value keeps the limits"


def test_an_incumbent_that_breaks_the_limit_is_replaced_by_what_keeps_it(tools):
    played = tools.play(strategy(tools, "guide", incumbent=900), read(tools))
    assert played.finish.code is VerdictCode.IMPROVED
    assert played.finish.settings.max_batch_size <= 400


def test_each_metric_has_its_figure(tools):
    level = tools.measured(
        100,
        1000.0,
        ttft_ms=Distribution(p99=900.0),
        e2e_ms=Distribution(p50=3.0),
        event_gap_ms=Distribution(p90=4.0),
        failed=(FailureCount(cause="timeout", count=30),),
        short_replies=10,
        goodput=0.97,
    )

    def value(metric, statistic):
        return value_of(Limit(metric=metric, statistic=statistic, bound=1.0), level)

    assert value(LimitMetric.TTFT, LimitStatistic.P99) == 900.0
    assert value(LimitMetric.E2E, LimitStatistic.P50) == 3.0
    assert value(LimitMetric.EVENT_GAP, LimitStatistic.P90) == 4.0
    assert value(LimitMetric.ERRORS, LimitStatistic.SHARE) == pytest.approx(0.02)
    assert value(LimitMetric.GOODPUT, LimitStatistic.SHARE) == 0.97


def test_a_figure_that_the_level_does_not_give_does_not_keep_a_limit(tools):
    assert judge(TPOT_50, (tools.measured(100, 1000.0),)) is Judgement.BROKEN
