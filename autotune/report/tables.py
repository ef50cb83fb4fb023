"""Tables: a table as a value that HTML and Markdown both show."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One cell: its text, and what it sorts by when that is not the text."""

    text: str
    key: float | None = None
    tone: str = ""
    """good, bad, weak, strong or nothing: how the page shows it."""
    remark: str = ""
    """Smaller, after the text."""

    @property
    def full_text(self) -> str:
        """Text and remark on one line."""
        return f"{self.text}: {self.remark}" if self.remark else self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column."""

    title: str
    numeric: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table with a title for those who cannot see it."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sortable: bool = False
    titled: bool = False
    """Whether its name is shown above it."""

    def without_empty_columns(self, empty: str) -> "Table":
        """The same without the columns in which every cell is `empty` or blank."""
        kept = [
            place
            for place in range(len(self.columns))
            if any(row[place].text not in {"", empty} for row in self.rows)
        ]
        return replace(
            self,
            columns=tuple(self.columns[place] for place in kept),
            rows=tuple(tuple(row[place] for place in kept) for row in self.rows),
        )


def text_cell(text: str, tone: str = "") -> Cell:
    """A cell that sorts by its text."""
    return Cell(text=text, tone=tone)


def number_cell(text: str, key: float | None, tone: str = "") -> Cell:
    """A cell that sorts by a number; without one it sorts last."""
    return Cell(text=text, key=float("inf") if key is None else key, tone=tone)
