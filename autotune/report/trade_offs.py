"""Trade-offs: the values that no other one beats in throughput and latency at once, and what limits cost."""

from autotune.model.campaign import Campaign
from autotune.model.limit import Limit
from autotune.report.figures import MISSING, milliseconds, over, percent, rate
from autotune.report.knob_names import knob_name
from autotune.report.latency import Figure, figure_name, figures
from autotune.report.limits import profile_limits
from autotune.report.parts import Note, Part
from autotune.report.phrases import reason_text
from autotune.report.tables import Cell, Column, Table, number_cell, text_cell
from autotune.report.texts.words import Language
from autotune.report.values import SettingValue, setting_values
from autotune.search.limits import value_of

MOST_TRADE_OFFS = 12
KEPT, BROKEN, OPEN = "kept", "broken", "open"


def trade_offs(campaign: Campaign) -> tuple[SettingValue, ...]:
    """Values that no other value beats in throughput, TTFT and TPOT at once, fastest first."""
    all_merits = [(value, _merits(value)) for value in setting_values(campaign)]
    kept = [value for value, merits in all_merits if not any(_beat(other, merits) for _, other in all_merits)]
    return tuple(sorted(kept, key=lambda value: -value.tokens_per_second))


def trade_off_parts(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    """The table, and in words what the limits cost and why the next value is not feasible."""
    told = [text for text in (_cost(campaign, language), _why_not_next(campaign, language)) if text]
    note = Note(text=language.between_sentences.join(told))
    table = trade_off_table(campaign, language)
    return (*((note,) if told else ()), *((table,) if table.rows else ()))


def trade_off_table(campaign: Campaign, language: Language) -> Table:
    """The best trade-offs with their latencies, and whether they keep each limit."""
    labels, limits, shown = language.labels, profile_limits(campaign), figures(campaign)
    values = trade_offs(campaign)[:MOST_TRADE_OFFS] if not limits else _fastest_first(campaign)
    columns = (
        Column(title=knob_name("max_batch_size", campaign.description.kind), numeric=True),
        Column(title=labels.tokens_per_second, numeric=True),
        *(Column(title=figure_name(figure, language), numeric=True) for figure in shown),
        Column(title=labels.goodput, numeric=True),
        *(Column(title=limit.text) for limit in limits),
    )
    rows = tuple(
        (
            number_cell(str(value.batch), value.batch),
            number_cell(rate(value.tokens_per_second), value.tokens_per_second),
            *(_latency_cell(value, figure) for figure in shown),
            _goodput_cell(value, language),
            *(_keeps_cell(judged(campaign, value, limit), language) for limit in limits),
        )
        for value in values
    )
    return Table(name=labels.pareto, columns=columns, rows=rows, titled=True).without_empty_columns(MISSING)


def judged(campaign: Campaign, value: SettingValue, limit: Limit) -> str:
    """`kept`, `broken` or `open` as the search judged it, with confidence.

    In a record without such a judgement a limit is kept when every restart's figure keeps it.
    """
    rows = campaign.limit_findings.rows if campaign.limit_findings else ()
    found = [
        each.judgement
        for row in rows
        if row.settings == value.settings
        for each in row.values
        if each.limit == limit.text
    ]
    if found:
        return found[0]
    known = [figure for level in value.levels if (figure := value_of(limit, level)) is not None]
    if not known:
        return OPEN
    return KEPT if all(map(limit.holds, known)) else BROKEN


def _why_not_next(campaign: Campaign, language: Language) -> str:
    found = campaign.limit_findings
    if found is None or not found.next_reason:
        return ""
    return language.notes.limits_next.format(reason=reason_text(found.next_reason, language))


def _fastest_first(campaign: Campaign) -> tuple[SettingValue, ...]:
    """Under limits every value is of interest: also the one that is fast and breaks one."""
    ordered = sorted(setting_values(campaign), key=lambda value: -value.tokens_per_second)
    return tuple(ordered[:MOST_TRADE_OFFS])


def _cost(campaign: Campaign, language: Language) -> str:
    """What the limits cost in throughput, when they rule the fastest value out."""
    limits, values = profile_limits(campaign), setting_values(campaign)
    if not limits or not values:
        return ""
    kept = [value for value in values if all(judged(campaign, value, limit) == KEPT for limit in limits)]
    if not kept:
        return language.notes.limits_unmet
    fastest = max(values, key=lambda value: value.tokens_per_second)
    feasible = max(kept, key=lambda value: value.tokens_per_second)
    if fastest is feasible:
        return language.notes.limits_free
    name = knob_name("max_batch_size", campaign.description.kind)
    loss = over(feasible.tokens_per_second, fastest.tokens_per_second)
    return language.notes.limits_cost.format(
        kept=f"{name} {feasible.batch}",
        rate=rate(feasible.tokens_per_second),
        fastest=f"{name} {fastest.batch}",
        fastest_rate=rate(fastest.tokens_per_second),
        loss=percent(-(loss or 0.0), language.style),
    )


def _latency_cell(value: SettingValue, figure: Figure) -> Cell:
    mean = value.mean(figure.of)
    return number_cell(milliseconds(mean), mean)


def _goodput_cell(value: SettingValue, language: Language) -> Cell:
    mean = value.mean(lambda level: level.goodput)
    return number_cell(percent(mean, language.style), mean)


def _keeps_cell(judgement: str, language: Language) -> Cell:
    labels = language.labels
    words = {KEPT: (labels.yes, "good"), BROKEN: (labels.no, "bad"), OPEN: (labels.not_sure, "weak")}
    word, tone = words.get(judgement, (judgement, ""))
    return text_cell(word, tone)


def _beat(ours: tuple[float, ...], theirs: tuple[float, ...]) -> bool:
    return ours != theirs and all(mine >= its for mine, its in zip(ours, theirs, strict=True))


def _merits(value: SettingValue) -> tuple[float, float, float]:
    endless = float("inf")
    ttft = value.mean_of(lambda level: level.ttft_ms)
    tpot = value.mean_of(lambda level: level.tpot_ms)
    return (
        value.tokens_per_second,
        -(endless if ttft is None else ttft),
        -(endless if tpot is None else tpot),
    )
