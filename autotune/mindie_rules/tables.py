"""Tables drawn with lines, as benchmark tools print them: their cells, whatever the lines are made of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from autotune.foreign import real

_BARS: Final = "|│┃║"
_BORDERS: Final = frozenset("+-=|┡╇┩─━│┃║┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╒╕╘╛╞╡╤╧╪╔╗╚╝╠╣╦╩╬═ ")
_TOP_CORNERS: Final = "┌┏╒╔"
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBER = re.compile(r"\s*([+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """One table: its rows of stripped cells, the heading first."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def heading(self) -> tuple[str, ...]:
        """The first row."""
        return self.rows[0] if self.rows else ()

    def row(self, name: str) -> tuple[str, ...] | None:
        """The first row whose first cell is the name, without that cell."""
        return next((row[1:] for row in self.rows if row and row[0] == name), None)

    def value(self, name: str, column: int = -1) -> str | None:
        """One cell of a named row; the last one unless told otherwise."""
        row = self.row(name)
        if not row:
            return None
        return row[column] if -len(row) <= column < len(row) else None


def tables_in(text: str) -> tuple[Table, ...]:
    """Every table in a text, colours left off; other lines, and the upper line of the next, end a table."""
    tables: list[Table] = []
    rows: list[tuple[str, ...]] = []
    for line in (*without_colours(text).splitlines(), ""):
        stripped = line.strip()
        if _is_row(stripped):
            rows.append(_cells(stripped))
        elif rows and (not _is_border(stripped) or stripped[0] in _TOP_CORNERS):
            tables.append(Table(rows=tuple(rows)))
            rows = []
    return tuple(tables)


def without_colours(text: str) -> str:
    """A terminal's text without what only steers the terminal."""
    return _COLOUR.sub("", text)


def _is_row(line: str) -> bool:
    return bool(line) and line[0] in _BARS and not _is_border(line)


def _is_border(line: str) -> bool:
    return bool(line) and all(character in _BORDERS for character in line)


def _cells(line: str) -> tuple[str, ...]:
    cells = re.split(f"[{_BARS}]", line)
    inner = cells[1:-1] if line[-1] in _BARS else cells[1:]
    return tuple(cell.strip() for cell in inner)


def number_in(cell: str | None) -> float | None:
    """The number that a cell begins with, its unit left off; None for `/`, `-`, `nan` and nothing."""
    found = _NUMBER.match(cell or "")
    return real(found[1].replace(",", "")) if found else None


def whole_in(cell: str | None) -> int | None:
    """The whole number that a cell begins with."""
    number = number_in(cell)
    return None if number is None else round(number)


def draw(rows: Sequence[Sequence[str]]) -> str:
    """A table with `+---+` lines and cells to the right, as the vendor's benchmark draws it."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    border = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [
        "|" + "|".join(f" {cell:>{width}} " for cell, width in zip(row, widths, strict=True)) + "|"
        for row in rows
    ]
    return "\n".join([border, lines[0], border, *lines[1:], border])
