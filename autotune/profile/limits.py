"""Limits as a profile writes them: `tpot:mean<=50ms`, `goodput>=99%` -> Limit."""

import re

from autotune.model.limit import Limit, LimitMetric, LimitStatistic
from autotune.profile.quantities import fraction_of, seconds_of
from autotune.profile.spelling import did_you_mean
from autotune.units import MILLISECONDS_PER_SECOND

_SHAPE = re.compile(r"\s*(\w+)\s*(?::\s*(\w+))?\s*(<=|>=|<|>|==|=)\s*(\S+(?:\s+\S+)?)\s*")
_EXAMPLES = 'like "tpot:mean<=50ms", "ttft:p99<=1s", "goodput>=99%" or "errors<=1%"'


def parse_limit(text: str) -> Limit:
    """Read one limit. Raises ValueError naming what is wrong with it."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise ValueError(f"{text!r} is not a limit; write it {_EXAMPLES}")
    name, statistic, relation, bound = shape.groups()
    metric = _metric(name)
    at_most = metric is not LimitMetric.GOODPUT
    wanted = "<=" if at_most else ">="
    if relation != wanted:
        raise ValueError(f"{text!r}: {metric.value} is limited with {wanted}, not {relation}")
    if metric.is_share:
        return _share(text, metric, statistic, bound)
    return Limit(
        metric=metric,
        statistic=_statistic(statistic, metric),
        bound=_milliseconds(bound),
        text=text.strip(),
    )


def _metric(name: str) -> LimitMetric:
    known = [metric.value for metric in LimitMetric]
    if name.lower() not in known:
        raise ValueError(
            f"{name!r} can't be limited{did_you_mean(name, known)}; it is one of {', '.join(known)}"
        )
    return LimitMetric(name.lower())


def _share(text: str, metric: LimitMetric, statistic: str | None, bound: str) -> Limit:
    if statistic is not None:
        raise ValueError(f"{text!r}: {metric.value} is a share of all requests and takes no {statistic!r}")
    return Limit(
        metric=metric,
        statistic=LimitStatistic.SHARE,
        bound=fraction_of(bound),
        at_most=metric is not LimitMetric.GOODPUT,
        text=text.strip(),
    )


def _statistic(name: str | None, metric: LimitMetric) -> LimitStatistic:
    known = [each.value for each in LimitStatistic if each is not LimitStatistic.SHARE]
    if name is None:
        raise ValueError(f"{metric.value} needs a figure: {metric.value}:mean or {metric.value}:p99")
    if name.lower() not in known:
        raise ValueError(
            f"{name!r} is not a figure{did_you_mean(name, known)}; it is one of {', '.join(known)}"
        )
    return LimitStatistic(name.lower())


def _milliseconds(bound: str) -> float:
    if bound[-1].isdigit():
        raise ValueError(f"{bound!r} has no unit; write 50ms or 1s")
    return seconds_of(bound) * MILLISECONDS_PER_SECOND
