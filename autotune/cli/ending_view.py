"""Ending view: the answer first, then what explains it, the report and the next command; on stdout."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from autotune.model.move import VerdictCode
from autotune.report.answer import Answer

STYLES = {
    VerdictCode.IMPROVED: "bold green",
    VerdictCode.EQUAL_SMALLER: "bold green",
    VerdictCode.INCUMBENT_BEST: "bold",
    VerdictCode.LIMIT_UNMET: "bold yellow",
    VerdictCode.NOT_MEASURABLE: "bold red",
    VerdictCode.INTERRUPTED: "bold yellow",
}


def show_ending(console: Console, answer: Answer, report: str) -> None:
    """Print the answer; `report` is where the report was written."""
    pairs = [("report", report)]
    if answer.next_step:
        pairs.append(("next", answer.next_step))
    if not console.is_terminal:
        lines = (answer.sentence, *(f"  {detail}" for detail in answer.details))
        tail = (f"{name.ljust(8)}{value}" for name, value in pairs)
        console.print(Text("\n".join((*lines, *tail))), soft_wrap=True)
        return
    console.print()
    console.print(Text(answer.sentence, style=STYLES[answer.code]))
    for detail in answer.details:
        console.print(Padding(Text(detail), (0, 0, 0, 2)))
    console.print(Text.assemble(("report  ", "dim"), report), soft_wrap=True)
    if answer.next_command:
        words = f"{answer.next_words} " if answer.next_words else ""
        line = Text.assemble(("next    ", "dim"), words, (answer.next_command, "bold"))
        if line.cell_len > console.width:
            line = Text.assemble(("next    ", "dim"), words, "\n  ", (answer.next_command, "bold"))
        console.print(line, soft_wrap=True)
