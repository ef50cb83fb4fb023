"""Sections: the report as a value, the same for HTML and Markdown: the answer, then the evidence."""

from autotune import __version__
from autotune.model.campaign import Campaign
from autotune.model.measurement import Invalid, InvalidReason
from autotune.report.answer import answer
from autotune.report.commands import commands
from autotune.report.curve import curve_plot, shape_text
from autotune.report.evidence import best, elapsed_seconds, recommended, total_seconds
from autotune.report.fact_tables import changes_table, decisions_table, environment_tables
from autotune.report.figures import MISSING, duration, percent, percent_range, rate
from autotune.report.knob_names import knob_name
from autotune.report.latency import latency_plots
from autotune.report.launch_tables import failures_table, launches_table, validity_table, whole_run_table
from autotune.report.parts import Code, Note, Part, Report, Section, Tile, Times
from autotune.report.predictions import prediction_parts
from autotune.report.shares import shares
from autotune.report.tables import Table
from autotune.report.texts.words import Language
from autotune.report.touched import touched_table
from autotune.report.trade_offs import trade_off_parts
from autotune.report.vendor_part import vendor_parts

MOST_OPEN_ROWS = 30
"""Tables that are longer and that few need are folded."""


def build(
    campaign: Campaign, language: Language, *, ceiling: float | None = None, is_redacted: bool = False
) -> Report:
    """The report of a campaign in one language.

    `ceiling`: tokens a second of the bare model in a static test, the bound that serving is compared with.
    """
    heads, is_long = language.headings, len(campaign.launches) > MOST_OPEN_ROWS
    everything = (
        Section(name="changes", heading=heads.changes, parts=_changes(campaign, language)),
        Section(name="curve", heading=heads.curve, parts=_curve(campaign, language, ceiling)),
        Section(name="latency", heading=heads.latency, parts=_latency(campaign, language)),
        Section(name="predicted", heading=heads.predicted, parts=prediction_parts(campaign, language)),
        Section(name="launches", heading=heads.launches, parts=_launches(campaign, language)),
        Section(name="validity", heading=heads.validity, parts=_validity(campaign, language), folded=is_long),
        Section(
            name="whole-run", heading=heads.whole_run, parts=_whole_run(campaign, language), folded=is_long
        ),
        Section(name="vendor", heading=heads.vendor, parts=vendor_parts(campaign, language)),
        Section(name="decisions", heading=heads.decisions, parts=_decisions(campaign, language), folded=True),
        Section(name="environment", heading=heads.environment, parts=environment_tables(campaign, language)),
        Section(name="apply", heading=heads.apply, parts=_apply(campaign, language)),
        Section(
            name="profile",
            heading=heads.profile,
            parts=(Code(text=campaign.profile_text, syntax="yaml"),),
            folded=True,
        ),
    )
    return Report(
        answer=answer(campaign, language),
        tiles=_tiles(campaign, language),
        sections=tuple(section for section in everything if section.parts),
        closing=_closing(language, is_redacted=is_redacted),
    )


def _closing(language: Language, *, is_redacted: bool) -> str:
    made_by = language.notes.made_by.format(version=__version__)
    return f"{made_by} {language.notes.redacted}" if is_redacted else made_by


def _tiles(campaign: Campaign, language: Language) -> tuple[Tile, ...]:
    labels, style = language.labels, language.style
    advice, verdict = recommended(campaign), campaign.verdict
    found = advice or best(campaign)
    tiles = []
    if found is not None:
        name = knob_name("max_batch_size", campaign.description.kind)
        before = labels.found_value.format(value=campaign.description.incumbent.max_batch_size)
        remark = before if advice else labels.not_confirmed
        tiles.append(Tile(label=name, value=str(found.settings.max_batch_size), remark=remark))
        spread = labels.rate_spread.format(half_width=percent(found.half_width, style))
        tiles.append(Tile(label=labels.throughput, value=rate(found.tokens_per_second), remark=spread))
    if verdict is not None and verdict.gain is not None:
        between = percent_range(verdict.gain_low, verdict.gain_high, style)
        value = percent(verdict.gain, style, signed=True)
        remark = labels.not_confirmed if advice is None else between
        tiles.append(Tile(label=labels.gain, value=value, remark="" if remark == MISSING else remark))
    count = labels.launches.format(count=len(campaign.launches))
    tiles.append(Tile(label=labels.effort, value=duration(elapsed_seconds(campaign), style), remark=count))
    return tuple(tiles)


def _changes(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    table = changes_table(campaign, language)
    first: Part = table if table.rows else Note(text=language.notes.no_changes)
    parted = _shares_text(campaign, language)
    return (first, *((Note(text=parted),) if parted else ()), *_filled(touched_table(campaign, language)))


def _shares_text(campaign: Campaign, language: Language) -> str:
    """The gain of the batch size and that of the other settings apart; nothing where that is not known."""
    found, style = shares(campaign), language.style
    if found is None:
        return ""
    words = language.notes.shares_about if found.estimated else language.notes.shares
    return words.format(
        bundle=percent(found.bundle, style, signed=True),
        batch=percent(found.batch, style, signed=True),
        name=knob_name("max_batch_size", campaign.description.kind),
        old=found.old_batch,
        new=found.new_batch,
    )


def _curve(campaign: Campaign, language: Language, ceiling: float | None) -> tuple[Part, ...]:
    plot, found = curve_plot(campaign, language, ceiling), best(campaign)
    if plot is None:
        return (Note(text=language.notes.curve_empty),)
    shaped = shape_text(campaign, language)
    parts: list[Part] = [Note(text=shaped, leads=True)] if shaped else []
    parts += [plot, Note(text=plot.description)]
    if ceiling and found is not None:
        share = percent(found.tokens_per_second / ceiling, language.style)
        parts.append(Note(text=language.labels.ceiling.format(rate=rate(ceiling), share=share)))
    return tuple(parts)


def _latency(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    plots = latency_plots(campaign, language)
    if not plots:
        return ()
    notes = language.between_sentences.join((language.notes.latency, language.notes.latency_per_value))
    return (*plots, Note(text=notes), *trade_off_parts(campaign, language))


def _launches(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    if not campaign.launches:
        return ()
    spent, style = total_seconds(campaign), language.style
    summary = language.notes.launches.format(
        total=duration(spent.total, style),
        start=duration(spent.start, style),
        warm_up=duration(spent.warm_up, style),
        measure=duration(spent.measure, style),
        stop=duration(spent.stop, style),
    )
    scale = campaign.description.time_scale
    if scale != 1.0:
        summary = language.between_sentences.join((summary, language.notes.scaled.format(scale=f"{scale:g}")))
    rows = tuple((launch.number, launch.seconds) for launch in campaign.launches)
    failures = failures_table(campaign, language)
    return (launches_table(campaign, language), *_filled(failures), Note(text=summary), Times(rows=rows))


def _validity(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    table = validity_table(campaign, language)
    levels = [level for launch in campaign.launches for level in launch.levels]
    if not levels:
        return ()
    invalid, notes = sum(isinstance(level, Invalid) for level in levels), language.notes
    words = notes.validity_some if invalid else notes.validity_all
    checks = language.answer.between_changes.join(
        word for reason, word in language.invalid.items() if reason is not InvalidReason.INTERRUPTED
    )
    sentences = (
        words.format(levels=len(levels), invalid=invalid),
        notes.validity_checks.format(checks=checks),
    )
    return Note(text=language.between_sentences.join(sentences)), table


def _whole_run(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    table = whole_run_table(campaign, language)
    return (Note(text=language.notes.whole_run), table) if table.rows else ()


def _decisions(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    return _filled(decisions_table(campaign, language))


def _apply(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    notes, parts = language.notes, list[Part]()
    if campaign.config_diff:
        parts += [Note(text=notes.apply), Code(text=campaign.config_diff, syntax="diff")]
    else:
        parts.append(Note(text=notes.no_diff))
    typed = "\n".join(commands(campaign))
    return (*parts, Note(text=notes.reproduce), Code(text=typed, syntax="sh"))


def _filled(table: Table) -> tuple[Table, ...]:
    return (table,) if table.rows else ()
