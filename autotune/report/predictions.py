"""Predictions: what the search expected of each value, held against what was measured."""

from dataclasses import dataclass
from statistics import fmean

from autotune.model.campaign import Campaign
from autotune.report.evidence import PointKind, points
from autotune.report.figures import over, percent, rate
from autotune.report.knob_names import knob_name
from autotune.report.tables import Cell, Column, Table, number_cell
from autotune.report.texts.words import Language


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """What a launch of this value was expected to read."""

    max_batch_size: int
    tokens_per_second: float
    half_width: float
    """Half of the 95 % prediction interval, a fraction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Extras:
    """What a campaign's record does not hold; the report shows what is given."""

    predictions: tuple[Prediction, ...] = ()
    ceiling_tokens_per_second: float | None = None
    """Static test of the bare model, the bound that serving is compared with."""


def prediction_table(campaign: Campaign, extras: Extras, language: Language) -> Table:
    """One row a prediction that was put to the test."""
    labels = language.labels
    columns = (
        Column(title=knob_name("max_batch_size", campaign.description.kind), numeric=True),
        Column(title=f"{labels.predicted} {labels.tokens_per_second}", numeric=True),
        Column(title=labels.interval, numeric=True),
        Column(title=f"{labels.measured} {labels.tokens_per_second}", numeric=True),
        Column(title=labels.difference, numeric=True),
    )
    rows = tuple(
        row
        for prediction in sorted(extras.predictions, key=lambda entry: entry.max_batch_size)
        if (row := _row(campaign, prediction, language))
    )
    return Table(name=language.headings.predicted, columns=columns, rows=rows)


def _row(campaign: Campaign, prediction: Prediction, language: Language) -> tuple[Cell, ...]:
    readings = [
        point.tokens_per_second
        for point in points(campaign)
        if point.kind is not PointKind.SWEEP and point.batch == prediction.max_batch_size
    ]
    if not readings:
        return ()
    measured, predicted = fmean(readings), prediction.tokens_per_second
    difference = over(measured, predicted)
    is_inside = difference is not None and abs(difference) <= prediction.half_width
    tone = "good" if is_inside else "bad"
    return (
        number_cell(str(prediction.max_batch_size), prediction.max_batch_size),
        number_cell(rate(predicted), predicted),
        number_cell(percent(prediction.half_width, language.style), prediction.half_width),
        number_cell(rate(measured), measured),
        number_cell(percent(difference, language.style, signed=True), difference, tone),
    )
