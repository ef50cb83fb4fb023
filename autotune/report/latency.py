"""Latency: TTFT and TPOT against throughput, each with its limit where it has one."""

from dataclasses import dataclass

from autotune.model.campaign import Campaign
from autotune.model.limit import Limit, LimitMetric, LimitStatistic
from autotune.model.measurement import Distribution, Measurement
from autotune.report.evidence import Point, PointKind, best, points
from autotune.report.figures import milliseconds, rate
from autotune.report.limits import profile_limits
from autotune.report.plot import Mark, Plot, Rule
from autotune.report.texts.words import Language

MOST_NAMES = 10
"""Marks are named while they are no more than this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One latency as it is plotted: which, and which figure of its distribution."""

    metric: LimitMetric
    statistic: LimitStatistic
    limit: Limit | None

    def of(self, level: Measurement) -> float | None:
        """Milliseconds; None when the level has too few samples for it."""
        values = level.ttft_ms if self.metric is LimitMetric.TTFT else level.tpot_ms
        return statistic(values, self.statistic)


def figures(campaign: Campaign) -> tuple[Figure, Figure]:
    """TTFT and TPOT: the figure that is limited where one is, else the mean."""
    return _figure(campaign, LimitMetric.TTFT), _figure(campaign, LimitMetric.TPOT)


def statistic(values: Distribution, wanted: LimitStatistic) -> float | None:
    """One figure of a distribution."""
    known = {
        LimitStatistic.MEAN: values.mean,
        LimitStatistic.P50: values.p50,
        LimitStatistic.P75: values.p75,
        LimitStatistic.P90: values.p90,
        LimitStatistic.P99: values.p99,
    }
    return known.get(wanted)


def latency_plots(campaign: Campaign, language: Language) -> tuple[Plot, ...]:
    """One chart for TTFT and one for TPOT; none where no restart carries the figure."""
    plots = (_plot(campaign, figure, language) for figure in figures(campaign))
    return tuple(plot for plot in plots if plot is not None)


def _figure(campaign: Campaign, metric: LimitMetric) -> Figure:
    limits = [limit for limit in profile_limits(campaign) if limit.metric is metric]
    if limits:
        return Figure(metric=metric, statistic=limits[0].statistic, limit=limits[0])
    return Figure(metric=metric, statistic=LimitStatistic.MEAN, limit=None)


def _restarts(campaign: Campaign) -> tuple[Point, ...]:
    return tuple(point for point in points(campaign) if point.kind is not PointKind.SWEEP)


def _plot(campaign: Campaign, figure: Figure, language: Language) -> Plot | None:
    chosen = best(campaign)
    batch = float(chosen.settings.max_batch_size) if chosen else None
    marks = tuple(
        _mark(point, value, language, is_best=point.batch == batch)
        for point in _restarts(campaign)
        if (value := figure.of(point.measurement)) is not None
    )
    if not marks:
        return None
    axis = figure_name(figure, language)
    rules = (
        (Rule(name=f"{language.labels.limit} {figure.limit.text}", y=figure.limit.bound),)
        if figure.limit
        else ()
    )
    return Plot(
        title=axis,
        description=language.notes.latency,
        x_label=language.labels.throughput_axis,
        y_label=axis,
        marks=_named(marks),
        rules=rules,
    )


def figure_name(figure: Figure, language: Language) -> str:
    """What is plotted, with its unit and statistic."""
    labels = language.labels
    axis = labels.ttft if figure.metric is LimitMetric.TTFT else labels.tpot
    word = labels.mean if figure.statistic is LimitStatistic.MEAN else figure.statistic.value.upper()
    return labels.of_statistic.format(axis=axis, statistic=word)


def _mark(point: Point, value: float, language: Language, *, is_best: bool) -> Mark:
    tip = (
        f"{language.points[point.kind]} {point.batch:.0f}",
        f"{rate(point.tokens_per_second)} {language.labels.tokens_per_second}",
        f"{milliseconds(value)} ms",
        f"#{point.launch}",
    )
    return Mark(
        kind=point.kind,
        x=point.tokens_per_second,
        y=value,
        tip=tip,
        name=f"{point.batch:.0f}",
        best=is_best,
    )


def _named(marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """The same with each value named once, and none when they are too many to read."""
    seen: set[str] = set()
    named = []
    many = len({mark.name for mark in marks}) > MOST_NAMES
    for mark in marks:
        hidden = mark.name in seen or (many and not mark.best)
        seen.add(mark.name)
        named.append(_renamed(mark, "" if hidden else mark.name))
    return tuple(named)


def _renamed(mark: Mark, name: str) -> Mark:
    return Mark(kind=mark.kind, x=mark.x, y=mark.y, tip=mark.tip, name=name, best=mark.best)
