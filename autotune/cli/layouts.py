"""Layouts: which columns of a row are shown at which width of the terminal, and the row in them."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

GAP = 2
LEAST_REASON = 24
"""Reasons are shown where so many cells are left for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column."""

    name: str
    title: str
    width: int
    is_right: bool = True
    is_reading: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Columns from left to right, `GAP` cells between them."""

    columns: tuple[Column, ...]

    @property
    def width(self) -> int:
        """In cells."""
        return _width(self.columns)

    @property
    def reading_width(self) -> int:
        """Of the columns that a message takes the place of."""
        return _width(tuple(column for column in self.columns if column.is_reading))


Piece = tuple[str, str]
"""A text and its style."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row before it is laid out. A message takes the place of the readings."""

    head: tuple[str, str, str]
    """Number, purpose, batch size."""
    prefill: str = ""
    readings: tuple[str, str, str, str] | None = None
    """Tokens a second, change against the incumbent, TTFT, TPOT."""
    message: str = ""
    short_message: str = ""
    """The same where there is little room; empty when it cannot be said shorter."""
    time: str = ""
    reason: str = ""
    detail: str = ""
    """What a failed launch said; stands outside the columns."""
    style: str = ""
    change_style: str = ""


NUMBER = Column(name="number", title="#", width=3)
PURPOSE = Column(name="purpose", title="purpose", width=9, is_right=False)
BATCH = Column(name="batch", title="batch", width=6)
PREFILL = Column(name="prefill", title="prefill", width=7)
RATE = Column(name="rate", title="token/s ± 95 %", width=17, is_reading=True)
CHANGE = Column(name="change", title="vs found", width=8, is_reading=True)
TTFT = Column(name="ttft", title="TTFT", width=7, is_reading=True)
TPOT = Column(name="tpot", title="TPOT", width=7, is_reading=True)
TIME = Column(name="time", title="time", width=7)
ORDERS = (
    (NUMBER, PURPOSE, BATCH, PREFILL, RATE, CHANGE, TTFT, TPOT, TIME),
    (NUMBER, PURPOSE, BATCH, RATE, CHANGE, TTFT, TPOT, TIME),
    (NUMBER, PURPOSE, BATCH, RATE, CHANGE, TPOT, TIME),
    (NUMBER, PURPOSE, BATCH, RATE, CHANGE, TIME),
    (NUMBER, BATCH, RATE, CHANGE, TIME),
)
"""The fullest that fits is taken; the last one where none does."""


def layout_for(width: int | None) -> Layout:
    """The layout for a terminal of so many cells; None for a log, which has no edge."""
    if width is None:
        return Layout(columns=(*ORDERS[0], _reason(200)))
    columns = next((order for order in ORDERS if _width(order) <= width), ORDERS[-1])
    left = width - _width(columns) - GAP
    return Layout(columns=(*columns, _reason(left)) if left >= LEAST_REASON else columns)


def title_row(layout: Layout) -> tuple[Piece, ...]:
    """The titles of the columns."""
    texts = [_fitted(column.title, column) for column in layout.columns]
    return (("  ".join(texts).rstrip(), "bold"),)


def pieces(row: Row, layout: Layout) -> tuple[Piece, ...]:
    """A row as texts with their styles, laid out; never wider than the layout."""
    return tuple(_merged(_cells(row, layout)))


def plain(styled: tuple[Piece, ...]) -> str:
    """The text alone."""
    return "".join(text for text, _ in styled).rstrip()


def _cells(row: Row, layout: Layout) -> Iterator[tuple[str, str, int]]:
    """Text, style and width of every cell; a message spans the cells of the readings."""
    number, purpose, batch = row.head
    rate_text, change, ttft, tpot = row.readings or ("", "", "", "")
    texts = {
        "number": number,
        "purpose": purpose,
        "batch": batch,
        "prefill": row.prefill,
        "rate": rate_text,
        "change": change,
        "ttft": ttft,
        "tpot": tpot,
        "time": row.time,
        "reason": row.reason,
    }
    is_told = False
    for column in layout.columns:
        if row.readings is None and column.is_reading:
            if not is_told:
                is_told = True
                yield _message(row, layout.reading_width), row.style, layout.reading_width
            continue
        style = row.change_style if column.name == "change" else row.style
        yield _fitted(texts[column.name], column), "dim" if column.name == "reason" else style, column.width


def _merged(cells: Iterator[tuple[str, str, int]]) -> Iterator[Piece]:
    for place, (text, style, _) in enumerate(cells):
        yield ("  " if place else "") + text, style


def _message(row: Row, width: int) -> str:
    shown = row.message if cell_len(row.message) <= width else row.short_message or row.message
    if cell_len(shown) > width:
        return set_cell_size(shown, width - 1) + "…"
    return set_cell_size(shown, width)


def _fitted(text: str, column: Column) -> str:
    """Cut or padded to the column's width in cells: East-Asian signs take two."""
    if cell_len(text) > column.width:
        return set_cell_size(text, column.width - 1) + "…"
    gap = " " * (column.width - cell_len(text))
    return gap + text if column.is_right else text + gap


def _reason(width: int) -> Column:
    return Column(name="reason", title="why", width=width, is_right=False)


def _width(columns: tuple[Column, ...]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)
