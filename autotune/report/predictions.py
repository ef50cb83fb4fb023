"""Predictions: what the search expected of each restart before it began, held against what was measured."""

from dataclasses import dataclass

from autotune.model.campaign import Campaign
from autotune.model.launch import LaunchRecord, Outcome
from autotune.model.move import Expected
from autotune.report.evidence import launch_decisions
from autotune.report.figures import over, percent, rate
from autotune.report.knob_names import knob_name
from autotune.report.parts import Note, Part
from autotune.report.tables import Cell, Column, Table, number_cell, text_cell
from autotune.report.texts.words import Language


@dataclass(frozen=True, kw_only=True, slots=True)
class Tested:
    """A prediction that was put to the test."""

    launch: LaunchRecord
    expected: Expected
    measured: float

    @property
    def difference(self) -> float | None:
        """Measured over predicted, minus 1."""
        return over(self.measured, self.expected.tokens_per_second)

    @property
    def is_inside(self) -> bool:
        """Whether the reading lies in the interval that was predicted."""
        return self.difference is not None and abs(self.difference) <= self.expected.half_width


def tested(campaign: Campaign) -> tuple[Tested, ...]:
    """Every launch that was predicted and gave a reading."""
    decisions = launch_decisions(campaign)
    return tuple(
        Tested(launch=launch, expected=decision.expected, measured=launch.last.tokens_per_second)
        for launch in campaign.launches
        if launch.outcome is Outcome.ENDED
        if (decision := decisions.get(launch.number)) and decision.expected and launch.last
    )


def prediction_parts(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    """How good the predictions were; nothing for strategies that make none."""
    found = tested(campaign)
    if not found:
        return ()
    inside = sum(each.is_inside for each in found)
    words = language.notes.predicted.format(inside=inside, count=len(found))
    return Note(text=words), _table(campaign, found, language)


def _table(campaign: Campaign, found: tuple[Tested, ...], language: Language) -> Table:
    labels = language.labels
    columns = (
        Column(title=labels.number, numeric=True),
        Column(title=knob_name("max_batch_size", campaign.description.kind), numeric=True),
        Column(title=f"{labels.predicted} {labels.tokens_per_second}", numeric=True),
        Column(title=f"{labels.measured} {labels.tokens_per_second}", numeric=True),
        Column(title=labels.difference, numeric=True),
        Column(title=labels.within),
    )
    rows = tuple(_row(each, language) for each in found)
    return Table(name=language.headings.predicted, columns=columns, rows=rows)


def _row(each: Tested, language: Language) -> tuple[Cell, ...]:
    told, labels = each.expected, language.labels
    spread = percent(told.half_width, language.style)
    batch = each.launch.settings.max_batch_size
    return (
        number_cell(str(each.launch.number), each.launch.number),
        number_cell(str(batch), batch),
        number_cell(f"{rate(told.tokens_per_second)} ± {spread}", told.tokens_per_second),
        number_cell(rate(each.measured), each.measured),
        number_cell(percent(each.difference, language.style, signed=True), each.difference),
        text_cell(labels.yes if each.is_inside else labels.no, "good" if each.is_inside else "bad"),
    )
