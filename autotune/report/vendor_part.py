"""Vendor part: the vendor's procedure on this campaign's readings, as a part of the report."""

from autotune.model.campaign import Campaign
from autotune.report.evidence import best
from autotune.report.figures import duration, over, percent, rate
from autotune.report.knob_names import knob_name
from autotune.report.parts import Note, Part
from autotune.report.tables import Cell, Column, Table, number_cell, text_cell
from autotune.report.texts.words import Language
from autotune.report.vendor import STEP, VendorRun, VendorStep, vendor_run


def vendor_parts(campaign: Campaign, language: Language) -> tuple[Part, ...]:
    """What it would have found and cost; nothing for engines that have no such procedure."""
    if campaign.description.kind == "vllm":
        return ()
    run, notes = vendor_run(campaign), language.notes
    if run is None:
        return (Note(text=notes.vendor), Note(text=notes.vendor_no_start)) if campaign.launches else ()
    parts: list[Part] = [Note(text=notes.vendor), _vendor_table(campaign, run, language)]
    parts.append(Note(text=_vendor_verdict(campaign, run, language)))
    if any(step.estimated and not step.at_most for step in run.steps):
        parts.append(Note(text=notes.vendor_estimated))
    if any(step.at_most for step in run.steps):
        parts.append(Note(text=notes.vendor_at_most))
    return tuple(parts)


def _remark(run: VendorRun, step: VendorStep, language: Language) -> Cell:
    if step.tokens_per_second is None:
        return text_cell(language.labels.failed_value, "bad")
    return text_cell(language.labels.vendor_choice if run.complete and step == run.chosen else "", "good")


def _sign(step: VendorStep) -> str:
    if step.at_most:
        return "≤ "
    return "≈ " if step.estimated else ""


def _vendor_table(campaign: Campaign, run: VendorRun, language: Language) -> Table:
    rows = tuple(
        (
            number_cell(str(place), place),
            number_cell(str(step.batch), step.batch),
            number_cell(f"{_sign(step)}{rate(step.tokens_per_second)}", step.tokens_per_second),
            _remark(run, step, language),
        )
        for place, step in enumerate(run.steps, start=1)
    )
    columns = (
        Column(title=language.labels.step, numeric=True),
        Column(title=knob_name("max_batch_size", campaign.description.kind), numeric=True),
        Column(title=language.labels.tokens_per_second, numeric=True),
        Column(title=""),
    )
    return Table(name=language.headings.vendor, columns=columns, rows=rows)


def _vendor_verdict(campaign: Campaign, run: VendorRun, language: Language) -> str:
    name = knob_name("max_batch_size", campaign.description.kind)
    setting = f"{name} {run.chosen.batch}"
    if not run.complete:
        after = (run.steps[-1].batch // STEP + 1) * STEP
        return language.notes.vendor_short.format(setting=f"{name} {after}")
    found = best(campaign)
    reading = run.chosen.tokens_per_second or 0.0
    loss = -(over(reading, found.tokens_per_second) or 0.0) if found else 0.0
    same = found is not None and found.settings.max_batch_size == run.chosen.batch
    words = language.notes.vendor_same if same or loss <= 0 else language.notes.vendor_found
    return words.format(
        setting=setting,
        rate=rate(run.chosen.tokens_per_second),
        launches=len(run.steps),
        time=duration(run.seconds, language.style),
        loss=percent(loss, language.style),
    )
