"""Table: the counts of a run as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.fuzz.outcome import Outcome
from tests.fuzz.target import Target


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What both fuzzers did with one target."""

    target: Target
    by_property: Outcome
    by_coverage: Outcome

    @property
    def findings(self) -> int:
        """How many of the two broke the law."""
        return sum(outcome.broken_by is not None for outcome in (self.by_property, self.by_coverage))


def table(rows: Sequence[Row], *, command: str, python: str) -> str:
    """The page of counts."""
    tried = sum(row.by_property.inputs + row.by_coverage.inputs for row in rows)
    findings = sum(row.findings for row in rows)
    lines = [
        "# Hostile input",
        f"`{command}`, Python {python}. Each target is one parser, or the splicer, and a law that must",
        "hold for any bytes. Hypothesis edits real files with the words of their grammar and makes what it",
        "finds small; atheris is led by the code's own coverage. An input that ends in the tool's own",
        "refusal is no finding; any other exception, and any broken law, is.",
        "",
        "| target | law | inputs, hypothesis | inputs, atheris | edges reached | seconds | findings |",
        "|---|---|---:|---:|---:|---:|---:|",
        *(_line(row) for row in rows),
        "",
        f"{len(rows)} targets, {tried:,} inputs, {findings} findings.",
    ]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    one, other = row.by_property, row.by_coverage
    guided = f"{other.inputs:,}" if not other.skipped else "not run"
    edges = f"{other.edges:,}" if other.edges is not None else ""
    cells = (
        row.target.name,
        row.target.law,
        f"{one.inputs:,}",
        guided,
        edges,
        f"{one.seconds + other.seconds:.0f}",
        str(row.findings),
    )
    return "| " + " | ".join(cells) + " |"
