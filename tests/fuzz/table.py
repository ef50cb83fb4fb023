"""Table: the counts of all targets as a page of Markdown, to which each run adds its own rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.outcome import Outcome
from tests.fuzz.target import Target

HEAD = """\
# Hostile input
`make fuzz` gives every target 600 seconds of CPU, half of them to each fuzzer, unless SECONDS= says else: the
column says what a row was given. `make fuzz ONLY=name` does the targets whose name holds that and replaces
their rows here. Each target is one parser, or the splicer, and a law that must hold for any bytes. Hypothesis
edits real files with the words of their grammar and makes what it finds small; atheris is led by the coverage
of the code. An input that ends in the tool's own refusal is no finding; any other exception, any broken law,
and 20 seconds of CPU over one input are.

| target | law | inputs, hypothesis | inputs, atheris | edges reached | CPU seconds | findings | Python, day |
|---|---|---:|---:|---:|---:|---:|---|
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What both fuzzers did with one target."""

    target: Target
    by_property: Outcome
    by_coverage: Outcome
    under: str
    """The Python and the day."""

    @property
    def findings(self) -> int:
        """How many of the two broke the law."""
        return sum(outcome.broken_by is not None for outcome in (self.by_property, self.by_coverage))


def add_to(page: Path, row: Row, order: Sequence[str]) -> None:
    """Put a row on the page in place of the target's last one; rows of targets that are gone go."""
    lines = kept_lines(page.read_text(encoding="utf-8") if page.exists() else "")
    lines[row.target.name] = line(row)
    page.write_text(whole(tuple(lines[name] for name in order if name in lines)), encoding="utf-8")


def kept_lines(text: str) -> dict[str, str]:
    """The rows of a page by the name of their target; none of a page with other columns."""
    head, found, body = text.partition(HEAD.splitlines()[-1] + "\n")
    if not found or HEAD.splitlines()[-2] not in head:
        return {}
    rows = (one for one in body.splitlines() if one.startswith("| "))
    return {one.split(" | ")[0].removeprefix("| "): one for one in rows}


def whole(lines: Sequence[str]) -> str:
    """The page of these rows, with their sums."""
    cells = [one.strip("| ").split(" | ") for one in lines]
    tried = sum(_count(row[2]) + _count(row[3]) for row in cells)
    seconds = sum(_count(row[5]) for row in cells)
    findings = sum(_count(row[6]) for row in cells)
    ending = f"{len(lines)} targets, {tried:,} inputs, {seconds:,} CPU seconds, {findings} findings."
    return HEAD + "\n".join(lines) + f"\n\n{ending}\n"


def line(row: Row) -> str:
    """A row of the page."""
    one, other = row.by_property, row.by_coverage
    cells = (
        row.target.name,
        row.target.law,
        f"{one.inputs:,}",
        f"{other.inputs:,}" if not other.skipped else "not run",
        f"{other.edges:,}" if other.edges is not None else "-",
        f"{one.seconds + other.seconds:.0f}",
        str(row.findings),
        row.under,
    )
    return "| " + " | ".join(cells) + " |"


def _count(cell: str) -> int:
    return int(cell.replace(",", "")) if cell[:1].isdigit() else 0
