"""From a tally to numbers, and the checks that they must pass."""

from dataclasses import replace

import pytest

from autotune.load.client.recorder import Bucket, Columns, Ended
from autotune.load.client.tally import ClientHealth, Tally
from autotune.load.measuring.assembling import Frame, assembled
from autotune.load.measuring.span import Span
from autotune.load.measuring.validity import Tolerance, first_fault
from autotune.model.limit import Limit, LimitMetric, LimitStatistic
from autotune.model.measurement import Invalid, InvalidReason, Measurement

HEALTH = ClientHealth(cpu_seconds=1.0, elapsed=20.0, lag_p90=0.001, lag_max=0.01)
FRAME = Frame(concurrency=10, time_scale=1.0, streaming=True, whole_test_latencies=True, from_schedule=False)
SPAN = Span(begin=0, end=20, seconds=20.0, rate=50.0, half_width=0.01, batch_means=(49.0, 51.0))


def tally(rows=100, *, tokens=10, events=10, failed=None, short=0, stay=2.0, in_flight=10, health=HEALTH):
    columns = Columns()
    for row in range(rows):
        end = 20.0 * (row + 0.5) / rows
        columns.add(
            Ended(
                scheduled=end - stay,
                sent=end - stay,
                first=end - 0.9 * stay,
                last=end,
                end=end,
                events=events,
                tokens=tokens,
                prompt_tokens=7,
                short=row < short,
            )
        )
    bucket = Bucket(
        start=0.0,
        events=50,
        whole_tokens=0,
        running=9,
        in_flight=in_flight,
        completions=5,
        failures=0,
        told_tokens=0,
        told_events=0,
    )
    return Tally(
        started=0.0,
        ended=20.0,
        buckets=[replace(bucket, start=float(second)) for second in range(20)],
        columns=columns,
        gaps=[],
        health=health,
        failed=failed or {},
        events=rows * events,
    )


def reading(**changes):
    return assembled(tally(**changes), SPAN, FRAME, None)


def test_a_good_test_is_a_measurement():
    level = reading().level()
    assert isinstance(level, Measurement)
    assert (level.tokens_per_second, level.half_width, level.completed) == (50.0, 0.01, 100)
    assert level.output_tokens == 1000
    assert level.input_tokens == 700
    assert level.mean_output_tokens == 10
    assert level.tpot_ms.mean == pytest.approx(1000 * 1.8 / 9)
    assert level.ttft_ms.mean == pytest.approx(200)
    assert level.e2e_ms.p99 == pytest.approx(2000)


def test_several_tokens_an_event_correct_what_the_window_was_fed():
    frame = replace(FRAME, fed_factor=3.5)
    one = assembled(tally(tokens=40, events=10), SPAN, frame, None)
    assert one.tokens_per_second == pytest.approx(50.0 * 4 / 3.5)
    assert one.tpot_ms.mean == pytest.approx(1000 * 1.8 / 39)


def test_a_scaled_clock_scales_times_up_and_rates_down():
    one = assembled(tally(), SPAN, replace(FRAME, time_scale=20.0), None)
    assert one.tokens_per_second == 2.5
    assert one.seconds == 400.0
    assert one.ttft_ms.mean == pytest.approx(4000)
    assert one.batch_means == (2.45, 2.55)


def test_littles_law_holds_in_a_steady_state():
    assert reading(rows=100, stay=2.0).little_residual == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"failed": {"cut": 2}}, InvalidReason.REQUESTS_FAILED),
        ({"short": 2}, InvalidReason.SHORT_REPLIES),
        ({"rows": 0}, InvalidReason.TOO_SHORT),
        ({"in_flight": 8}, InvalidReason.CONCURRENCY_NOT_REACHED),
        ({"health": replace(HEALTH, cpu_seconds=19.8)}, InvalidReason.CLIENT_OVERLOADED),
        ({"health": replace(HEALTH, lag_p90=0.3)}, InvalidReason.CLIENT_OVERLOADED),
        ({"health": replace(HEALTH, lag_max=3.0)}, InvalidReason.CLIENT_OVERLOADED),
        ({"stay": 1.0}, InvalidReason.LITTLES_LAW),
    ],
)
def test_each_check_makes_a_test_invalid_with_its_reason(changes, reason):
    fault = first_fault(reading(**changes), Tolerance(), closed=True)
    assert fault is not None
    assert fault.reason is reason
    level = replace(reading(**changes), fault=fault).level()
    assert isinstance(level, Invalid)
    assert level.reason is reason


def test_goodput_counts_the_requests_that_keep_every_latency_limit():
    within = Limit(metric=LimitMetric.TTFT, statistic=LimitStatistic.MEAN, bound=250.0)
    beyond = Limit(metric=LimitMetric.E2E, statistic=LimitStatistic.P99, bound=1999.0)
    assert reading().goodput is None
    assert assembled(tally(), SPAN, replace(FRAME, limits=(within,)), None).goodput == 1.0
    both = assembled(tally(), SPAN, replace(FRAME, limits=(within, beyond)), None)
    assert both.goodput == 0.0
    assert [each.over == each.requests for each in both.over_limits] == [False, True]


def test_one_failure_in_a_hundred_is_within_tolerance():
    assert first_fault(reading(rows=99, failed={"reset": 1}), Tolerance(failed=0.0101), closed=True) is None


def test_a_test_without_an_interval_is_no_measurement():
    span = replace(SPAN, half_width=None)
    level = assembled(tally(), span, FRAME, None).level()
    assert isinstance(level, Invalid)
    assert level.reason is InvalidReason.TOO_SHORT
