"""Fact tables: what changes, the environment, and the decisions in their order."""

from autotune.model.campaign import Campaign, Decision
from autotune.report.evidence import elapsed_seconds, incumbent, recommended
from autotune.report.figures import MISSING, duration, moment
from autotune.report.knob_names import changed, knob_name, settings_text, value_text
from autotune.report.phrases import fact_name, reason_text
from autotune.report.safe_text import one_line
from autotune.report.tables import Column, Table, number_cell, text_cell
from autotune.report.texts.words import Language


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


def environment_table(campaign: Campaign, language: Language) -> Table:
    """Run, engine and host facts."""
    labels, about = language.labels, campaign.description
    pairs = [
        (labels.run, one_line(campaign.run)),
        (labels.profile, one_line(campaign.profile_name)),
        (labels.date, f"{moment(campaign.started_wall)} → {moment(campaign.ended_wall)}"),
        (labels.took, duration(elapsed_seconds(campaign), language.style)),
        (labels.forecast, _forecast(campaign, language)),
        (labels.strategy, one_line(campaign.strategy)),
        (labels.engine, f"{about.kind} {one_line(about.version)}"),
        (labels.place, one_line(about.place)),
        (labels.model, one_line(about.model_name)),
        (labels.found, settings_text(about.incumbent, about.kind)),
        (labels.blocks, _blocks(campaign, language)),
    ]
    pairs += [
        (fact_name(fact.name, language), one_line(fact.value))
        for fact in (*about.facts, *campaign.environment)
    ]
    rows = tuple((text_cell(name), text_cell(value)) for name, value in pairs if value)
    columns = (Column(title=labels.fact), Column(title=labels.value))
    return Table(name=language.headings.environment, columns=columns, rows=rows)


def decisions_table(campaign: Campaign, language: Language) -> Table:
    """Every move of the strategy with its reason."""
    labels = language.labels
    rows = tuple(
        (
            number_cell(str(place), place),
            text_cell(_move(decision, campaign, language)),
            text_cell(reason_text(decision.reason, language)),
        )
        for place, decision in enumerate(campaign.decisions, start=1)
    )
    columns = (
        Column(title=labels.step, numeric=True),
        Column(title=labels.decision),
        Column(title=labels.reason),
    )
    return Table(name=language.headings.decisions, columns=columns, rows=rows)


def _move(decision: Decision, campaign: Campaign, language: Language) -> str:
    words = {
        "launch": language.labels.start,
        "measure": language.labels.measure,
        "finish": language.labels.recommended,
    }
    parts = [words.get(decision.kind, one_line(decision.kind))]
    if decision.settings is not None:
        parts.append(settings_text(decision.settings, campaign.description.kind))
    if decision.concurrency is not None:
        parts.append(f"{language.labels.concurrency} {decision.concurrency}")
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
