"""Durations, shares, sizes and limits as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.model.limit import LimitMetric, LimitStatistic
from autotune.profile.limits import parse_limit
from autotune.profile.quantities import bytes_of, fraction_of, seconds_of
from autotune.units import GiB, MiB


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15m", 900),
        ("90s", 90),
        ("2h", 7200),
        ("1h30m", 5400),
        ("500ms", 0.5),
        ("1.5 h", 5400),
        (20, 20),
        ("7", 7),
    ],
)
def test_durations_become_seconds(text, seconds):
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize("wrong", ["", "m", "5x", "-5s", "5m later", 0, "0s", True, None, [], float("nan")])
def test_what_is_no_duration_is_refused(wrong):
    with pytest.raises(ValueError, match="duration"):
        seconds_of(wrong)


@pytest.mark.parametrize(
    ("text", "fraction"), [("2%", 0.02), ("0.5 %", 0.005), (0.02, 0.02), ("0.1", 0.1), (1, 1), (0, 0)]
)
def test_shares_become_fractions(text, fraction):
    assert fraction_of(text) == pytest.approx(fraction)


@pytest.mark.parametrize("wrong", ["", "%", "2", 2, "101%", "-1%", True, None, "two %"])
def test_what_is_no_share_is_refused(wrong):
    with pytest.raises(ValueError, match=r"share|outside"):
        fraction_of(wrong)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("17GiB", 17 * GiB),
        ("512 MiB", 512 * MiB),
        ("64GB", 64 * 10**9),
        (5, 5),
        ("7", 7),
        ("0.5gib", GiB // 2),
    ],
)
def test_sizes_become_bytes(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("wrong", ["", "17G", "GiB", -1, True, 1.5, None])
def test_what_is_no_size_is_refused(wrong):
    with pytest.raises(ValueError, match="size"):
        bytes_of(wrong)


@pytest.mark.parametrize(
    ("text", "metric", "statistic", "bound", "at_most"),
    [
        ("tpot:mean<=50ms", LimitMetric.TPOT, LimitStatistic.MEAN, 50, True),
        ("ttft:p99<=1s", LimitMetric.TTFT, LimitStatistic.P99, 1000, True),
        ("e2e : P90 <= 2 m", LimitMetric.E2E, LimitStatistic.P90, 120_000, True),
        ("event_gap:p75<=80ms", LimitMetric.EVENT_GAP, LimitStatistic.P75, 80, True),
        ("goodput>=99%", LimitMetric.GOODPUT, LimitStatistic.SHARE, 0.99, False),
        ("errors<=1%", LimitMetric.ERRORS, LimitStatistic.SHARE, 0.01, True),
        ("errors<=0", LimitMetric.ERRORS, LimitStatistic.SHARE, 0, True),
    ],
)
def test_limits_are_typed_with_their_units(text, metric, statistic, bound, at_most):
    limit = parse_limit(text)
    assert (limit.metric, limit.statistic, limit.at_most) == (metric, statistic, at_most)
    assert limit.bound == pytest.approx(bound)
    assert limit.text == text.strip()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not a limit"),
        ("tpot", "is not a limit"),
        ("tpot<=50ms", "needs a figure"),
        ("tpot:mean<=50", "has no unit"),
        ("tpot:mean>=50ms", "limited with <="),
        ("tpot:mean<50ms", "limited with <="),
        ("tpot:p98<=50ms", r"did you mean p9"),
        ("tpott:mean<=50ms", "did you mean tpot?"),
        ("goodput<=99%", "limited with >="),
        ("goodput:mean>=99%", "share of all requests"),
        ("errors<=1s", "not a share"),
        ("ttft:mean<=fast", "not a duration"),
    ],
)
def test_what_is_no_limit_is_refused_with_the_reason(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse_limit(text)


@given(bound=st.integers(1, 10**6), value=st.floats(0, 10**7))
def test_a_latency_limit_holds_up_to_its_bound(bound, value):
    assert parse_limit(f"tpot:mean<={bound}ms").holds(value) == (value <= bound * (1 + 1e-12))
    assert parse_limit("goodput>=99%").holds(1.0)
    assert not parse_limit("goodput>=99%").holds(0.98)
