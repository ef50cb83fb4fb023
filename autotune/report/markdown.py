"""Markdown: the report for a merge request, a wiki or a mail; charts are the image files beside it."""

from collections.abc import Iterable

from autotune.model.campaign import Campaign
from autotune.report.launch_tables import times_table
from autotune.report.parts import Code, Note, Part, Report, Section, Times
from autotune.report.plot import Plot
from autotune.report.safe_text import code_block, markdown, markdown_cell
from autotune.report.tables import Table
from autotune.report.texts.words import Language

CURVE_SECTION = "curve"
CURVE_IMAGE = "curve.png"


def markdown_text(report: Report, campaign: Campaign, language: Language) -> str:
    """The whole report in GitHub's Markdown; the curve is shown when there is one."""
    said = report.answer
    verdict = f"**{markdown(language.verdicts[said.code])}**"
    names = (markdown(campaign.profile_name, 80), markdown(campaign.description.model_name, 80))
    blocks = [
        f"# {markdown(said.sentence)}",
        " · ".join((verdict, language.headings.title, *names)),
        "\n".join(f"- {markdown(text)}" for text in said.details),
    ]
    if said.next_command:
        blocks += [markdown(said.next_words), code_block(said.next_command, "sh")]
    blocks += [_section(section, language) for section in report.sections]
    blocks.append(f"*{markdown(report.closing)}*")
    return "\n\n".join(filter(None, blocks)) + "\n"


def _section(section: Section, language: Language) -> str:
    parts = [f"## {markdown(section.heading)}"]
    shown = [_part(part, language) for part in section.parts]
    if section.name == CURVE_SECTION and any(isinstance(part, Plot) for part in section.parts):
        leading = sum(isinstance(part, Note) and part.leads for part in section.parts)
        shown.insert(leading, f"![{markdown(section.heading)}]({CURVE_IMAGE})")
    return "\n\n".join((*parts, *filter(None, shown)))


def _part(part: Part, language: Language) -> str:
    if isinstance(part, Note):
        return markdown(part.text)
    if isinstance(part, Code):
        return code_block(part.text, part.syntax)
    if isinstance(part, Times):
        part = times_table(part, language)
    if isinstance(part, Table):
        title = f"### {markdown(part.name)}\n\n" if part.titled else ""
        return title + table_text(part)
    return ""


def table_text(table: Table) -> str:
    """A table with its columns aligned as numbers or words."""
    head = _row(markdown_cell(column.title) for column in table.columns)
    rule = _row("---:" if column.numeric else ":---" for column in table.columns)
    rows = (_row(markdown_cell(cell.full_text) for cell in row) for row in table.rows)
    return "\n".join((head, rule, *rows))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
