"""Curve: throughput against max_batch_size, with everything that explains the choice."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from statistics import fmean

from autotune.model.campaign import Campaign, Reading
from autotune.report.evidence import (
    FailedValue,
    Point,
    PointKind,
    best,
    failed_values,
    incumbent,
    points,
    recommended,
)
from autotune.report.figures import percent, rate, whole
from autotune.report.knob_names import knob_name
from autotune.report.plot import Band, Cross, Mark, Plot, Rule, Trace
from autotune.report.texts.words import Language, Notes
from autotune.report.values import Shape, shape

CEILING_REACH = 1.4
"""A ceiling that is further above the readings would only press them flat."""
SHIFT = 0.012
"""Share of the measured range by which a further launch of the same value is drawn to the right."""


def curve_plot(campaign: Campaign, language: Language, ceiling: float | None = None) -> Plot | None:
    """The chart; None when nothing was measured. A `ceiling` in tokens a second is drawn where it is near."""
    measured = points(campaign)
    if not measured:
        return None
    name = knob_name("max_batch_size", campaign.description.kind)
    labels = language.labels
    bracket = campaign.bracket
    return Plot(
        title=language.headings.curve,
        description=_description(campaign, measured, language),
        x_label=labels.batch_axis.format(name=name) if _has_sweep(measured) else name,
        y_label=labels.throughput_axis,
        marks=_marks(campaign, measured, language),
        traces=_traces(measured),
        crosses=tuple(_cross(failure, name, language) for failure in failed_values(campaign)),
        rules=_rules(campaign, measured, language, ceiling),
        band=Band(
            name=labels.bracket.format(low=bracket.low, high=bracket.high),
            low=float(bracket.low),
            high=float(bracket.high),
        )
        if bracket
        else None,
        knee=_knee(campaign, language),
    )


def shape_text(campaign: Campaign, language: Language) -> str:
    """In words: where the curve has its top, where it falls, where preemptions begin."""
    found = shape(campaign)
    if found is None:
        return ""
    sentences = (text(found, language.notes) for text in (_fall_text, _enough_text, _preemption_text))
    return language.between_sentences.join(filter(None, sentences))


def _fall_text(found: Shape, notes: Notes) -> str:
    if found.falls_from is not None:
        return notes.shape_falls.format(top=found.top, falls=found.falls_from)
    if found.swept_from is not None:
        return notes.shape_sweep_falls.format(top=found.top, falls=found.swept_from)
    words = notes.shape_rises if found.top == found.highest else notes.shape_plateau
    return words.format(top=found.top)


def _enough_text(found: Shape, notes: Notes) -> str:
    """Where nothing falls, the smallest value that does as well."""
    falls = found.falls_from is not None or found.swept_from is not None
    if falls or found.enough == found.top:
        return ""
    return notes.shape_enough.format(enough=found.enough)


def _preemption_text(found: Shape, notes: Notes) -> str:
    if found.preempts_from is not None:
        words = notes.shape_preempts if found.is_all else notes.shape_preempts_tried
        return words.format(preempts=found.preempts_from)
    if found.preempts_swept is not None:
        return notes.shape_sweep_preempts.format(preempts=found.preempts_swept)
    calm = notes.shape_calm if found.is_all else notes.shape_calm_tried
    return calm if found.counts_preemptions else ""


def _knee(campaign: Campaign, language: Language) -> Band | None:
    """From the top to the first value that reads surely lower."""
    found = shape(campaign)
    end = (found.falls_from or found.swept_from) if found else None
    if found is None or end is None:
        return None
    name = language.labels.knee.format(low=found.top, high=end)
    return Band(name=name, low=float(found.top), high=float(end))


def _description(campaign: Campaign, measured: Iterable[Point], language: Language) -> str:
    notes = language.notes
    sentences = [notes.curve.format(name=knob_name("max_batch_size", campaign.description.kind))]
    sentences += [notes.curve_sweep] if _has_sweep(measured) else []
    sentences += [notes.curve_band] if campaign.bracket else []
    return language.between_sentences.join(sentences)


def _rules(
    campaign: Campaign, measured: Iterable[Point], language: Language, ceiling: float | None
) -> tuple[Rule, ...]:
    rules = []
    if campaign.bracket is not None:
        start = campaign.bracket.start
        rules.append(Rule(name=f"{language.labels.bracket_start} {start}", x=float(start)))
    if ceiling and ceiling <= CEILING_REACH * max(point.tokens_per_second for point in measured):
        rules.append(Rule(name=language.labels.ceiling_line, y=ceiling))
    return tuple(rules)


def _has_sweep(measured: Iterable[Point]) -> bool:
    return any(point.kind is PointKind.SWEEP for point in measured)


def _marks(campaign: Campaign, measured: tuple[Point, ...], language: Language) -> tuple[Mark, ...]:
    chosen, kept = recommended(campaign) or best(campaign), incumbent(campaign)
    names = _first_launch(campaign, measured, kept, language.labels.found)
    highlighted = _first_launch(campaign, measured, chosen, _word_for_best(campaign, language))
    names |= highlighted
    return tuple(
        _mark(
            point,
            language,
            shift=shift,
            name=names.get(point.launch, "") if point.kind is not PointKind.SWEEP else "",
            is_best=point.launch in highlighted,
        )
        for point, shift in zip(measured, _shifts(measured), strict=True)
    )


def _word_for_best(campaign: Campaign, language: Language) -> str:
    advice, kept = recommended(campaign), incumbent(campaign)
    if advice is None:
        return language.labels.best_so_far
    stays = kept is not None and advice.settings == kept.settings
    return language.labels.stays if stays else language.labels.recommended


def _first_launch(
    campaign: Campaign, measured: tuple[Point, ...], reading: Reading | None, word: str
) -> dict[int, str]:
    """Number and name of the first restart with the settings of `reading`."""
    if reading is None:
        return {}
    settings_of = {launch.number: launch.settings for launch in campaign.launches}
    for point in measured:
        if point.kind is not PointKind.SWEEP and settings_of[point.launch] == reading.settings:
            return {point.launch: f"{word} {reading.settings.max_batch_size}"}
    return {}


def _shifts(measured: tuple[Point, ...]) -> list[float]:
    """How far each point is moved aside so that launches of one value do not hide each other."""
    batches = [point.batch for point in measured]
    unit = SHIFT * ((max(batches) - min(batches)) or max(batches))
    seen: Counter[float] = Counter()
    shifts = []
    for batch in batches:
        shifts.append(unit * seen[batch])
        seen[batch] += 1
    return shifts


def _mark(point: Point, language: Language, *, shift: float, name: str, is_best: bool) -> Mark:
    preemptions = point.measurement.preemptions
    return Mark(
        kind=point.kind,
        x=point.batch + shift,
        y=point.tokens_per_second,
        low=point.low,
        high=point.high,
        tip=_tip(point, language),
        name=name,
        flagged=bool(preemptions),
        best=is_best,
    )


def _tip(point: Point, language: Language) -> tuple[str, ...]:
    labels, level = language.labels, point.measurement
    where = labels.running if point.kind is PointKind.SWEEP else ""
    spread = percent(level.half_width, language.style)
    lines = [
        f"{language.points[point.kind]} {where} {whole(point.batch)}".replace("  ", " "),
        f"{rate(level.tokens_per_second)} {labels.tokens_per_second} ± {spread}",
        f"{labels.concurrency} {level.concurrency}",
    ]
    if level.preemptions:
        lines.append(f"{labels.preemptions} {whole(level.preemptions)}")
    lines.append(f"#{point.launch}")
    return tuple(lines)


def _traces(measured: tuple[Point, ...]) -> tuple[Trace, ...]:
    sweep = [point for point in measured if point.kind is PointKind.SWEEP]
    restarts = [point for point in measured if point.kind is not PointKind.SWEEP]
    kinds = ((PointKind.SWEEP, sweep), (PointKind.CANDIDATE, restarts))
    return tuple(
        Trace(kind=kind, points=_means(members)) for kind, members in kinds if len(_means(members)) > 1
    )


def _means(members: list[Point]) -> tuple[tuple[float, float], ...]:
    ordered = sorted(members, key=lambda point: point.batch)
    return tuple(
        (batch, fmean(point.tokens_per_second for point in group))
        for batch, group in groupby(ordered, key=lambda point: point.batch)
    )


def _cross(failure: FailedValue, name: str, language: Language) -> Cross:
    lines = (f"{name} {failure.batch}", language.causes[failure.cause], f"#{failure.launch}")
    return Cross(x=float(failure.batch), tip=lines)
