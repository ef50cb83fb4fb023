"""Touched: what the run changed on the host, what was put back and what stays."""

import re

from autotune.model.campaign import Campaign
from autotune.model.service import Fact
from autotune.report.phrases import fact_name, fact_value
from autotune.report.safe_text import one_line
from autotune.report.tables import Cell, Column, Table, text_cell
from autotune.report.texts.words import Language

HOST_SETTINGS = frozenset({"governor", "transparent_hugepages"})
"""Facts that say what became of a kernel setting; their names are those of the settings."""
OUTCOME = re.compile(r"\b(applied|kept|unchanged|unavailable|denied|restored|skipped|dropped)\b")


def is_host_setting(fact: Fact) -> bool:
    """Whether a fact tells what became of a kernel setting."""
    return fact.name in HOST_SETTINGS and OUTCOME.search(fact.value) is not None


def touched_table(campaign: Campaign, language: Language) -> Table:
    """One row an item; no rows for a rehearsal, which touches nothing."""
    labels = language.labels
    columns = (
        Column(title=labels.item),
        Column(title=labels.during),
        Column(title=labels.afterwards),
    )
    rows = () if campaign.rehearsed else tuple(_rows(campaign, language))
    return Table(name=language.headings.touched, columns=columns, rows=rows, titled=True)


def _rows(campaign: Campaign, language: Language) -> list[tuple[Cell, ...]]:
    labels = language.labels
    rows = [_configuration(campaign, language)]
    if campaign.launches:
        during = labels.started_times.format(count=len(campaign.launches))
        rows.append(
            (text_cell(labels.service), text_cell(during), _state(campaign, labels.stopped, language))
        )
    settings = (fact for fact in campaign.environment if is_host_setting(fact))
    rows += [_host_setting(campaign, fact, language) for fact in settings]
    return rows


def _configuration(campaign: Campaign, language: Language) -> tuple[Cell, ...]:
    labels, about = language.labels, campaign.description
    modes = [fact.value for fact in about.facts if fact.name == "config_mode"]
    if about.kind == "vllm":
        during = labels.own_command
    else:
        during = labels.edited if "in-place" in modes else labels.copied
    done = Cell(text=during, remark=one_line(about.config_path))
    if campaign.applied:
        return text_cell(labels.configuration), done, text_cell(labels.in_place, "strong")
    return text_cell(labels.configuration), done, _state(campaign, labels.as_before, language)


def _host_setting(campaign: Campaign, fact: Fact, language: Language) -> tuple[Cell, ...]:
    labels = language.labels
    found = OUTCOME.search(fact.value)
    outcome = found.group() if found else ""
    name, value = text_cell(fact_name(fact.name, language)), text_cell(fact_value(fact.value, language))
    if outcome == "kept":
        return name, value, text_cell(labels.stays_so, "strong")
    if outcome != "applied":
        return name, value, text_cell(labels.as_before)
    return name, value, _state(campaign, labels.put_back, language)


def _state(campaign: Campaign, word: str, language: Language) -> Cell:
    is_good = campaign.restored or campaign.applied
    return text_cell(word if is_good else language.labels.not_back, "" if is_good else "bad")
