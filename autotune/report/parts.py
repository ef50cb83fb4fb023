"""Parts: what a report is made of, before it is HTML or Markdown."""

from dataclasses import dataclass

from autotune.model.launch import PhaseSeconds
from autotune.report.answer import Answer
from autotune.report.plot import Plot
from autotune.report.tables import Table


@dataclass(frozen=True, kw_only=True, slots=True)
class Tile:
    """One figure that must be seen first."""

    label: str
    value: str
    remark: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """A paragraph."""

    text: str
    leads: bool = False
    """What a section says in one sentence, before its evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """Text that is shown as it stands."""

    text: str
    syntax: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """How the time of each launch was spent: its number and its phases."""

    rows: tuple[tuple[int, PhaseSeconds], ...]


Part = Note | Code | Table | Plot | Times


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """One part of the report under a heading."""

    name: str
    """Its anchor."""
    heading: str
    parts: tuple[Part, ...]
    folded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Everything that HTML and Markdown show."""

    answer: Answer
    tiles: tuple[Tile, ...]
    sections: tuple[Section, ...]
    closing: str
    """Who made it."""
