"""Fact tables: what changes, the environment, and the decisions in their order."""

from collections.abc import Iterable

from autotune.model.because import Because
from autotune.model.campaign import Campaign, Decision
from autotune.model.service import Fact
from autotune.report.evidence import elapsed_seconds, incumbent, recommended
from autotune.report.figures import MISSING, duration, moment, percent, rate
from autotune.report.knob_names import changed, engine_text, knob_name, settings_text, value_text
from autotune.report.phrases import fact_name, fact_value, reason_text
from autotune.report.safe_text import one_line
from autotune.report.tables import Cell, Column, Table, number_cell, text_cell
from autotune.report.texts.words import Language
from autotune.report.touched import is_host_setting

COUNTED, ALLOWED = "cpus", "allowed CPUs"
"""The number of CPUs says nothing beside their list."""


def changes_table(campaign: Campaign, language: Language) -> Table:
    """Every setting whose recommended value differs from the one found; no rows without proven advice."""
    labels, kept, found = language.labels, incumbent(campaign), recommended(campaign)
    before = kept.settings if kept else campaign.description.incumbent
    rows = tuple(
        (
            text_cell(knob_name(name, campaign.description.kind)),
            number_cell(MISSING if old is None else value_text(old), None),
            number_cell(value_text(new), None, "strong"),
        )
        for name, old, new in changed(before, found.settings if found else before)
    )
    columns = (
        Column(title=labels.setting),
        Column(title=labels.found, numeric=True),
        Column(title=labels.recommended, numeric=True),
    )
    return Table(name=language.headings.changes, columns=columns, rows=rows)


def environment_tables(campaign: Campaign, language: Language) -> tuple[Table, ...]:
    """Facts about the run, about the service and about the host, a table each."""
    labels, about = language.labels, campaign.description
    service = [(labels.engine, engine_text(about.kind, about.version))]
    service += [
        (labels.place, one_line(about.place)),
        (labels.model, one_line(about.model_name)),
        (labels.found, settings_text(about.incumbent, about.kind)),
        (labels.blocks, _blocks(campaign, language)),
        *_pairs(about.facts, language),
    ]
    host = _pairs((fact for fact in campaign.environment if not is_host_setting(fact)), language)
    groups = ((labels.run, _run(campaign, language)), (labels.service, service), (labels.host, host))
    return tuple(_facts(name, pairs, language) for name, pairs in groups if any(value for _, value in pairs))


def decisions_table(campaign: Campaign, language: Language) -> Table:
    """Every move of the strategy with its reason."""
    labels = language.labels
    rows = tuple(
        (
            number_cell(str(place), place),
            text_cell(_move(decision, campaign, language)),
            Cell(text=_reason(decision, language), remark=_code(decision)),
        )
        for place, decision in enumerate(campaign.decisions, start=1)
    )
    columns = (
        Column(title=labels.step, numeric=True),
        Column(title=labels.decision),
        Column(title=labels.reason),
    )
    return Table(name=language.headings.decisions, columns=columns, rows=rows)


def _facts(name: str, pairs: Iterable[tuple[str, str]], language: Language) -> Table:
    rows = tuple((text_cell(key), text_cell(value)) for key, value in pairs if value)
    columns = (Column(title=language.labels.fact), Column(title=language.labels.value))
    return Table(name=name, columns=columns, rows=rows, titled=True)


def _run(campaign: Campaign, language: Language) -> list[tuple[str, str]]:
    labels = language.labels
    return [
        (labels.run, one_line(campaign.run)),
        (labels.profile, one_line(campaign.profile_name)),
        (labels.strategy, one_line(campaign.strategy)),
        (labels.date, f"{moment(campaign.started_wall)} → {moment(campaign.ended_wall)}"),
        (labels.took, duration(elapsed_seconds(campaign), language.style)),
        (labels.forecast, _forecast(campaign, language)),
    ]


def _pairs(facts: Iterable[Fact], language: Language) -> list[tuple[str, str]]:
    """Each name once: of two facts with one name the later one says more."""
    latest = {fact.name: fact.value for fact in facts}
    if ALLOWED in latest:
        latest.pop(COUNTED, None)
    return [(fact_name(name, language), fact_value(value, language)) for name, value in latest.items()]


def _code(decision: Decision) -> str:
    """The stable code beside the words; empty in records that have none."""
    return "" if decision.because is Because.UNSTATED else decision.because.value


def _reason(decision: Decision, language: Language) -> str:
    words = reason_text(decision.reason, language)
    if decision.expected is None:
        return words
    told = decision.expected
    return language.labels.expected.format(
        reason=words,
        rate=rate(told.tokens_per_second),
        half_width=percent(told.half_width, language.style),
    )


def _move(decision: Decision, campaign: Campaign, language: Language) -> str:
    words = {
        "launch": language.labels.start,
        "measure": language.labels.measure,
        "finish": language.labels.ends_with,
    }
    parts = [words.get(decision.kind, one_line(decision.kind))]
    if decision.settings is not None:
        parts.append(settings_text(decision.settings, campaign.description.kind))
    if decision.concurrency is not None:
        parts.append(language.labels.at_clients.format(count=decision.concurrency))
    return " ".join(parts)


def _forecast(campaign: Campaign, language: Language) -> str:
    forecast = campaign.forecast
    if forecast is None:
        return ""
    return language.labels.forecast_range.format(
        low=duration(forecast.seconds_low, language.style),
        high=duration(forecast.seconds_high, language.style),
        launches_low=forecast.launches_low,
        launches_high=forecast.launches_high,
    )


def _blocks(campaign: Campaign, language: Language) -> str:
    if campaign.bracket is None:
        return ""
    sources = {source.value: word for source, word in language.block_sources.items()}
    shown = sources.get(campaign.bracket.source, one_line(campaign.bracket.source))
    return language.labels.blocks_from.format(blocks=campaign.bracket.blocks, source=shown)
