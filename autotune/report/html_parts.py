"""HTML parts: notes, tables, charts, code and times as markup."""

import re
from itertools import groupby

from autotune.model.launch import PhaseSeconds
from autotune.report.drawing import svg, swatch, swatch_of
from autotune.report.evidence import PointKind
from autotune.report.launch_tables import times_table
from autotune.report.markup import Markup, element, join
from autotune.report.parts import Code, Note, Part, Times
from autotune.report.plot import Plot
from autotune.report.tables import Cell, Column, Table
from autotune.report.texts.words import Language

MOST_BARS = 40
LOG = "log"
"""Tone of a cell that shows what a log said, letter by letter."""
PROSE = 24
"""A column with longer texts than this may break its lines."""
PHASES = ("start", "warm_up", "measure", "stop")
CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
SLASH = re.compile(r"(?<=\w/)(?=[^/\s])")
TIED = re.compile(
    r"\(?[+-]?[\d.,]+ to [\d.,-]+ ?%\)?|[\w-]+ → \w+(?: → )?|± [\d.,]+ ?%|[+-]?[\d.,]+ %|[\d.,]+ tokens?/s"
)
BREAK = Markup("<wbr>")
DIFF_CLASSES = {"+": "add", "-": "cut", "@": "place"}


def parts_markup(parts: tuple[Part, ...], language: Language) -> Markup:
    """All parts of a section; charts that follow each other stand side by side where there is room."""
    groups = groupby(parts, key=lambda part: isinstance(part, Plot))
    return join(*(_group(tuple(group), language, is_plots=is_plots) for is_plots, group in groups))


def tied(text: str) -> str:
    """`text` whose numbers are not parted from their units when lines break, with real arrows."""
    return TIED.sub(lambda match: match.group().replace(" ", "\N{NO-BREAK SPACE}"), text.replace("->", "→"))


def _group(parts: tuple[Part, ...], language: Language, *, is_plots: bool) -> Markup:
    shown = [_part(part, language) for part in parts]
    return element("div", *shown, class_="charts") if is_plots and len(shown) > 1 else join(*shown)


def _part(part: Part, language: Language) -> Markup | None:
    if isinstance(part, Note):
        return element("p", tied(part.text), class_="point" if part.leads else "note")
    if isinstance(part, Code):
        return _code(part)
    if isinstance(part, Table):
        return _table(part, language)
    if isinstance(part, Plot):
        return _plot(part, language)
    return _times(part, language)


def _code(code: Code) -> Markup:
    if code.syntax != "diff":
        return element("pre", element("code", code.text), tabindex=0)
    lines = (
        element("span", line, class_=DIFF_CLASSES.get(line[:1])) if line[:1] in DIFF_CLASSES else line
        for line in code.text.splitlines(keepends=True)
    )
    return element("pre", element("code", *lines), tabindex=0)


def _table(table: Table, language: Language) -> Markup:
    head = element("tr", *(_title(column) for column in table.columns))
    rows = (
        element("tr", *(_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)))
        for row in table.rows
    )
    grid = element("table", element("thead", head), element("tbody", *rows), class_=_table_class(table))
    title = element("h3", table.name) if table.titled else None
    hint = (
        element("p", language.notes.sortable, class_="note screen", hidden=True) if table.sortable else None
    )
    box = element("div", grid, class_="scroll", tabindex=0, role="region", aria_label=table.name)
    return join(title, box, hint)


def _table_class(table: Table) -> str:
    if table.sortable:
        return "sortable"
    return "facts" if not any(column.numeric for column in table.columns) else "small"


def _title(column: Column) -> Markup:
    parts = CAPITAL.split(column.title)
    breakable = [piece for part in parts for piece in (BREAK, part)][1:]
    classes = " ".join(
        filter(None, ("number" if column.numeric else "", "tight" if "--" in column.title else ""))
    )
    return element("th", *breakable, scope="col", class_=classes or None)


def _cell(cell: Cell, column: Column) -> Markup:
    prose = "prose" if not column.numeric and len(cell.text) > PROSE else ""
    classes = " ".join(filter(None, ("number" if column.numeric else "", prose, cell.tone)))
    key = None if cell.key is None else "Infinity" if cell.key == float("inf") else f"{cell.key:.6g}"
    remark = element("small", *_breakable(cell.remark)) if cell.remark else None
    text = tied(cell.text) if prose and cell.tone != LOG else cell.text
    return element("td", text, remark, class_=classes or None, data_key=key)


def _breakable(text: str) -> list[str]:
    """A path may break its line after a slash."""
    pieces = SLASH.split(text)
    return [piece for part in pieces for piece in (BREAK, part)][1:]


def _plot(plot: Plot, language: Language) -> Markup:
    is_curve = plot.band is not None or any(mark.low is not None for mark in plot.marks)
    wide, narrow = ((920, 430), (360, 330)) if is_curve else ((520, 330), (360, 300))
    return element(
        "figure",
        svg(plot, width=wide[0], height=wide[1], class_="wide"),
        svg(plot, width=narrow[0], height=narrow[1], class_="narrow"),
        _legend(plot, language) if is_curve else None,
    )


def _legend(plot: Plot, language: Language) -> Markup:
    kinds = {mark.kind for mark in plot.marks}
    entries = [(swatch(kind), language.points[kind]) for kind in PointKind if kind in kinds]
    labels = language.labels
    signs = (
        ("cross", labels.failed_value, bool(plot.crosses)),
        ("flag", labels.with_preemptions, any(mark.flagged for mark in plot.marks)),
        ("band", plot.band.name if plot.band else "", plot.band is not None),
        ("knee", plot.knee.name if plot.knee else "", plot.knee is not None),
    )
    entries += [(swatch_of(sign), word) for sign, word, shown in signs if shown]
    return element("ul", *(element("li", sign, word) for sign, word in entries), class_="legend")


def _times(times: Times, language: Language) -> Markup:
    """A table with a bar in each row; folded when there are many rows."""
    longest = max((seconds.total for _, seconds in times.rows), default=0.0) or 1.0
    table, labels = times_table(times, language), language.labels
    titles = [_title(column) for column in table.columns]
    head = element("tr", titles[0], element("td", class_="spent"), *titles[1:])
    rows = (
        element("tr", cells[0], element("td", _bar(spent, longest), class_="spent"), *cells[1:])
        for (_, spent), row in zip(times.rows, table.rows, strict=True)
        if (cells := [_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)])
    )
    grid = element("table", element("thead", head), element("tbody", *rows), class_="times")
    box = element("div", grid, class_="scroll", tabindex=0, role="region", aria_label=table.name)
    words = zip(PHASES, (labels.start, labels.warm_up, labels.measure, labels.stop), strict=True)
    keys = (element("li", _key(phase), word) for phase, word in words)
    content = join(element("ul", *keys, class_="legend"), box)
    if len(times.rows) <= MOST_BARS:
        return content
    return element("details", element("summary", language.notes.times), content)


def _key(phase: str) -> Markup:
    rect = element("rect", width=16, height=16, class_=phase)
    return element("svg", rect, class_="swatch", viewBox="0 0 16 16", aria_hidden="true")


def _bar(seconds: PhaseSeconds, longest: float) -> Markup:
    spans, left = [], 0.0
    for phase in PHASES:
        width = 1000 * getattr(seconds, phase) / longest
        spans.append(element("rect", x=left, y=0, width=width, height=12, class_=phase))
        left += width
    return element("svg", *spans, viewBox="0 0 1000 12", preserveAspectRatio="none", aria_hidden="true")
