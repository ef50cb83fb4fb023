"""Launch tables: every launch with its reason and times, every level with its checks."""

from autotune.model.campaign import Campaign, Reading
from autotune.model.launch import LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Invalid, Level, Measurement
from autotune.report.evidence import incumbent, reasons
from autotune.report.figures import MISSING, duration, milliseconds, over, percent, rate, whole
from autotune.report.knob_names import knob_name, value_text
from autotune.report.parts import Times
from autotune.report.phrases import reason_text
from autotune.report.safe_text import clean, one_line
from autotune.report.tables import Cell, Column, Table, number_cell, text_cell
from autotune.report.texts.words import Language

SHORT = 160


def launches_table(campaign: Campaign, language: Language) -> Table:
    """One row a launch: setting, result, latencies, time and reason."""
    labels = language.labels
    knobs = _knobs(campaign)
    why = reasons(campaign)
    kept = incumbent(campaign)
    columns = (
        Column(title=labels.number, numeric=True),
        Column(title=labels.purpose),
        *(Column(title=knob_name(name, campaign.description.kind), numeric=True) for name in knobs),
        Column(title=f"{labels.tokens_per_second} {labels.interval}", numeric=True),
        Column(title=labels.against_incumbent, numeric=True),
        Column(title=labels.ttft, numeric=True),
        Column(title=labels.tpot, numeric=True),
        Column(title=labels.preemptions, numeric=True),
        Column(title=labels.blocks, numeric=True),
        Column(title=labels.time, numeric=True),
    )
    rows = tuple(
        (
            number_cell(str(launch.number), launch.number),
            Cell(
                text=language.purposes[launch.purpose],
                remark=reason_text(why[launch.number], language, SHORT),
            ),
            *(_knob_cell(launch, name) for name in knobs),
            *_result_cells(launch, kept, language),
            number_cell(duration(launch.seconds.total, language.style), launch.seconds.total),
        )
        for launch in campaign.launches
    )
    table = Table(name=language.headings.launches, columns=columns, rows=rows, sortable=True)
    return table.without_empty_columns(MISSING)


def failures_table(campaign: Campaign, language: Language) -> Table:
    """What failed launches said."""
    labels = language.labels
    rows = tuple(
        (
            number_cell(str(launch.number), launch.number),
            number_cell(str(launch.settings.max_batch_size), launch.settings.max_batch_size),
            text_cell(language.causes[launch.cause] if launch.cause else MISSING, "bad"),
            text_cell(clean(launch.detail), "log"),
        )
        for launch in campaign.launches
        if launch.outcome is Outcome.FAILED
    )
    name = knob_name("max_batch_size", campaign.description.kind)
    columns = (
        Column(title=labels.number, numeric=True),
        Column(title=name, numeric=True),
        Column(title=labels.cause),
        Column(title=labels.reason),
    )
    return Table(name=labels.failed, columns=columns, rows=rows, titled=True)


def validity_table(campaign: Campaign, language: Language) -> Table:
    """One row a level: what was asked, what was reached, and whether it counts."""
    labels = language.labels
    columns = (
        Column(title=labels.number, numeric=True),
        Column(title=knob_name("max_batch_size", campaign.description.kind), numeric=True),
        Column(title=labels.concurrency, numeric=True),
        Column(title=labels.reached, numeric=True),
        Column(title=labels.running, numeric=True),
        Column(title=labels.completed, numeric=True),
        Column(title=labels.failed, numeric=True),
        Column(title=labels.short_replies, numeric=True),
        Column(title=labels.window, numeric=True),
        Column(title=labels.result),
    )
    rows = tuple(
        (
            number_cell(str(launch.number), launch.number),
            number_cell(str(launch.settings.max_batch_size), launch.settings.max_batch_size),
            number_cell(whole(level.concurrency), level.concurrency),
            *_check_cells(level, language),
        )
        for launch in campaign.launches
        for level in launch.levels
    )
    return Table(name=language.headings.validity, columns=columns, rows=rows, sortable=True)


def whole_run_table(campaign: Campaign, language: Language) -> Table:
    """What a benchmark that divides by the whole run would have printed."""
    labels = language.labels
    columns = (
        Column(title=labels.number, numeric=True),
        Column(title=knob_name("max_batch_size", campaign.description.kind), numeric=True),
        Column(title=labels.concurrency, numeric=True),
        Column(title=f"{labels.throughput} {labels.tokens_per_second}", numeric=True),
        Column(title=f"{labels.whole_run} {labels.tokens_per_second}", numeric=True),
        Column(title=labels.difference, numeric=True),
        Column(title=f"{labels.per_client} {labels.tokens_per_second}", numeric=True),
    )
    rows = tuple(
        _whole_run_row(launch, launch.last, language)
        for launch in campaign.launches
        if launch.last is not None and launch.purpose is not Purpose.SCOUT
    )
    return Table(name=language.headings.whole_run, columns=columns, rows=rows, sortable=True)


def times_table(times: Times, language: Language) -> Table:
    """How the time of each launch was spent."""
    labels, style = language.labels, language.style
    titles = (labels.start, labels.warm_up, labels.measure, labels.stop, labels.total)
    columns = (
        Column(title=labels.number, numeric=True),
        *(Column(title=title, numeric=True) for title in titles),
    )
    rows = tuple(
        (
            number_cell(str(number), number),
            *(
                number_cell(duration(seconds, style) if seconds else MISSING, seconds)
                for seconds in (spent.start, spent.warm_up, spent.measure, spent.stop, spent.total)
            ),
        )
        for number, spent in times.rows
    )
    return Table(name=labels.time, columns=columns, rows=rows)


def _whole_run_row(launch: LaunchRecord, level: Measurement, language: Language) -> tuple[Cell, ...]:
    whole_run = level.whole_run_tokens_per_second
    difference = over(whole_run, level.tokens_per_second)
    per_client = whole_run / max(level.concurrency, 1)
    return (
        number_cell(str(launch.number), launch.number),
        number_cell(str(launch.settings.max_batch_size), launch.settings.max_batch_size),
        number_cell(whole(level.concurrency), level.concurrency),
        number_cell(rate(level.tokens_per_second), level.tokens_per_second),
        number_cell(rate(whole_run), whole_run),
        number_cell(percent(difference, language.style, signed=True), difference),
        number_cell(f"{per_client:.4f}", per_client),
    )


def _knobs(campaign: Campaign) -> tuple[str, ...]:
    """The settings that differ between launches; the batch size always."""
    values: dict[str, set[object]] = {}
    for launch in campaign.launches:
        for name, value in launch.settings.as_dict().items():
            values.setdefault(name, set()).add(value)
    return tuple(name for name, seen in values.items() if name == "max_batch_size" or len(seen) > 1)


def _knob_cell(launch: LaunchRecord, name: str) -> Cell:
    value = launch.settings.as_dict().get(name)
    return number_cell(
        MISSING if value is None else value_text(value), None if value is None else float(value)
    )


def _result_cells(launch: LaunchRecord, kept: Reading | None, language: Language) -> tuple[Cell, ...]:
    level = launch.last
    empty = number_cell(MISSING, None)
    blocks = number_cell(whole(launch.blocks), launch.blocks)
    if level is None:
        word = language.causes[launch.cause] if launch.cause else _invalid_word(launch, language)
        return (number_cell(word, None, "bad"), empty, empty, empty, empty, blocks)
    if launch.purpose is Purpose.SCOUT:
        levels = language.labels.sweep_levels.format(count=len(launch.levels))
        return (number_cell(levels, None, "weak"), empty, empty, empty, empty, blocks)
    is_itself = kept is None or launch.settings == kept.settings
    gain = None if kept is None or is_itself else over(level.tokens_per_second, kept.tokens_per_second)
    tone = _tone(gain, level.half_width)
    reading = f"{rate(level.tokens_per_second)} ± {percent(level.half_width, language.style)}"
    return (
        number_cell(reading, level.tokens_per_second),
        number_cell(percent(gain, language.style, signed=True), gain, tone),
        number_cell(milliseconds(level.ttft_ms.mean), level.ttft_ms.mean),
        number_cell(milliseconds(level.tpot_ms.mean), level.tpot_ms.mean),
        number_cell(whole(level.preemptions), level.preemptions, "weak" if not level.preemptions else ""),
        blocks,
    )


def _invalid_word(launch: LaunchRecord, language: Language) -> str:
    invalid = [level for level in launch.levels if isinstance(level, Invalid)]
    return language.invalid[invalid[-1].reason] if invalid else language.outcomes[launch.outcome]


def _tone(gain: float | None, half_width: float) -> str:
    if gain is None or abs(gain) <= half_width:
        return ""
    return "good" if gain > 0 else "bad"


def _check_cells(level: Level, language: Language) -> tuple[Cell, ...]:
    if isinstance(level, Invalid):
        empty = number_cell(MISSING, None)
        detail = f": {one_line(level.detail, SHORT)}" if level.detail else ""
        word = text_cell(f"{language.invalid[level.reason]}{detail}", "bad")
        return (empty, empty, empty, empty, empty, empty, word)
    lost = sum(failure.count for failure in level.failed)
    short = level.short_replies
    return (
        number_cell(whole(level.concurrency_reached), level.concurrency_reached),
        number_cell(whole(level.running_mean), level.running_mean),
        number_cell(whole(level.completed), level.completed),
        number_cell(whole(lost), lost, "bad" if lost else "weak"),
        number_cell(whole(short), short, "bad" if short else "weak"),
        number_cell(duration(level.seconds, language.style), level.seconds),
        text_cell(_remarks(level, language), "good"),
    )


def _remarks(level: Measurement, language: Language) -> str:
    labels = language.labels
    remarks = [labels.valid]
    remarks += [labels.capped] if level.capped else []
    remarks += [labels.assumed_noise] if level.assumed_noise else []
    remarks += [f"{one_line(failure.cause, 60)} × {failure.count}" for failure in level.failed]
    return "; ".join(remarks)
