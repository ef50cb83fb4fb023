"""What the limits did to a campaign: what keeps them, why the next value does not, and what that costs."""

from collections.abc import Sequence

from autotune.campaign.verdict import reading_of
from autotune.model.campaign import LimitFindings, LimitValue, Reading, TradeOff, Verdict
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.limit import Limit, LimitMetric
from autotune.model.settings import Settings
from autotune.search.limits import compared_levels, judge, standing, value_of
from autotune.statistics.shares import Judgement


def limit_findings(
    launches: Sequence[LaunchRecord], limits: tuple[Limit, ...], verdict: Verdict | None
) -> LimitFindings | None:
    """The trade-off of every restart, from the launches alone; None without limits or restarts."""
    settings = dict.fromkeys(launch.settings for launch in launches if _measured(launch))
    rows = [_trade_off(launches, each, limits) for each in settings]
    if not limits or not rows:
        return None
    table = sorted((_marked(row, rows) for row in rows), key=lambda row: row.settings.max_batch_size)
    best = verdict.best if verdict else None
    fastest = max(rows, key=lambda row: row.tokens_per_second)
    following = _following(table, best)
    return LimitFindings(
        rows=tuple(table),
        fastest=reading_of(launches, fastest.settings),
        cost=1.0 - best.tokens_per_second / fastest.tokens_per_second if best else None,
        next_size=following.settings.max_batch_size if following else None,
        next_reason=_why_not(following, limits) if following else "",
    )


def _measured(launch: LaunchRecord) -> bool:
    own = launch.purpose is not Purpose.SCOUT
    return own and launch.outcome is Outcome.ENDED and bool(compared_levels(launch))


def _trade_off(launches: Sequence[LaunchRecord], settings: Settings, limits: tuple[Limit, ...]) -> TradeOff:
    levels = [
        level
        for launch in launches
        if launch.settings == settings and _measured(launch)
        for level in compared_levels(launch)
    ]
    reading = reading_of(launches, settings)
    assert reading is not None, "only measured settings get a row"
    return TradeOff(
        settings=settings,
        tokens_per_second=reading.tokens_per_second,
        kept=standing(limits, levels)[0] is Judgement.KEPT,
        efficient=True,
        values=tuple(
            LimitValue(
                limit=limit.text, value=value_of(limit, levels[-1]), judgement=judge(limit, levels).value
            )
            for limit in limits
        ),
    )


def _marked(row: TradeOff, rows: Sequence[TradeOff]) -> TradeOff:
    """Efficient: no other row is at least as good in throughput and in every limited figure."""
    beaten = any(_beats(other, row) for other in rows if other is not row)
    return TradeOff(
        settings=row.settings,
        tokens_per_second=row.tokens_per_second,
        kept=row.kept,
        efficient=not beaten,
        values=row.values,
    )


def _beats(one: TradeOff, other: TradeOff) -> bool:
    ours, theirs = _merits(one), _merits(other)
    return ours != theirs and all(mine >= its for mine, its in zip(ours, theirs, strict=True))


def _merits(row: TradeOff) -> tuple[float, ...]:
    """Larger is better; goodput is the only limited figure that is better when it is larger."""
    figures = []
    for each in row.values:
        value = float("inf") if each.value is None else each.value
        figures.append(value if each.limit.startswith(LimitMetric.GOODPUT.value) else -value)
    return (row.tokens_per_second, *figures)


def _following(table: Sequence[TradeOff], best: Reading | None) -> TradeOff | None:
    """The nearest measured value above the recommended one that does not keep the limits; else below."""
    refused = [row for row in table if not row.kept]
    if best is None:
        return min(refused, key=lambda row: row.settings.max_batch_size, default=None)
    size = best.settings.max_batch_size
    above = [row for row in refused if row.settings.max_batch_size > size]
    if above:
        return above[0]
    return refused[-1] if refused else None


def _why_not(row: TradeOff, limits: tuple[Limit, ...]) -> str:
    """The first limit that it does not keep, with what was measured."""
    for each, limit in zip(row.values, limits, strict=True):
        if each.judgement == Judgement.KEPT.value:
            continue
        measured = "not measured" if each.value is None else _figure(each.value, limit)
        word = "breaks" if each.judgement == Judgement.BROKEN.value else "does not surely keep"
        return f"{row.settings.max_batch_size} {word} {each.limit}: {measured}"
    return ""


def _figure(value: float, limit: Limit) -> str:
    return f"{value:.2%}" if limit.metric.is_share else f"{value:.1f} ms"
