"""Reads static tests of the bare model (run_pa, modeltest, speed SDK): the ceiling that serving has.

Sources: CSV headings in the public source of ATB models' run_pa.py and modeltest, and the tables of the
model READMEs. Every row is one case: a batch of equal prompts, generated to the same length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autotune.load.sources.reading import UnreadableOutput
from autotune.mindie_rules.tables import number_in, whole_in
from autotune.units import MILLISECONDS_PER_SECOND

_SEPARATORS = (",", "|", "\t")
_BATCH = ("batchsize", "batch_size", "batch")
_INPUT = ("in_seq", "input_len", "input_seq_len", "input_seq_len(encoding)")
_OUTPUT = ("out_seq", "output_len", "output_seq_len", "output_seq_len(decoding)")
_SPEED = re.compile(r"(e2e )?throughput\(tokens?/s\)")
_AVERAGE = re.compile(r"e2e throughput average\(tokens?/s\)")
_TIME = re.compile(r"(?:responsetime|total time)\((ms|s)\)")
_FEWEST_COLUMNS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class StaticCase:
    """One case of a static test; None where the file does not say."""

    batch_size: int
    input_tokens: int | None
    output_tokens: int | None
    tokens_per_second: float


def read_static_test(text: str) -> tuple[StaticCase, ...]:
    """Every case, in order. Raises UnreadableOutput when there is none."""
    cases = tuple(_cases(text))
    if not cases:
        raise UnreadableOutput(
            "static test: no row with a batch size and a speed",
            hint="give the CSV file that run_pa or modeltest has written",
        )
    return cases


def ceiling_of(cases: tuple[StaticCase, ...]) -> StaticCase:
    """The fastest case."""
    return max(cases, key=lambda case: case.tokens_per_second)


def _cases(text: str) -> Iterator[StaticCase]:
    heading: dict[str, int] = {}
    for line in text.splitlines():
        cells = _cells(line)
        names = {name.lower(): place for place, name in enumerate(cells)}
        if len(cells) >= _FEWEST_COLUMNS and any(name in names for name in _BATCH):
            heading = names
        elif heading and len(cells) > 1:
            case = _case({name: cells[place] for name, place in heading.items() if place < len(cells)})
            if case is not None:
                yield case


def _cells(line: str) -> list[str]:
    separator = max(_SEPARATORS, key=line.count)
    cells = [cell.strip() for cell in line.split(separator)]
    if separator == "|" and line.strip().startswith("|"):
        cells = cells[1:-1]
    return cells


def _case(row: dict[str, str]) -> StaticCase | None:
    batch = _first(row, _BATCH)
    output = _first(row, _OUTPUT)
    speed = _speed(row, batch, output)
    if not batch or speed is None or not 0 < speed < float("inf"):
        return None
    return StaticCase(
        batch_size=batch, input_tokens=_first(row, _INPUT), output_tokens=output, tokens_per_second=speed
    )


def _speed(row: dict[str, str], batch: int | None, output: int | None) -> float | None:
    """As it is stated, else generated tokens over the time of the whole case.

    A column of averages counts only where the file has no other speed: modeltest repeats the mean of all
    cases in it, run_pa states each case's own.
    """
    for pattern in (_SPEED, _AVERAGE):
        stated = next((number_in(cell) for name, cell in row.items() if pattern.fullmatch(name)), None)
        if stated is not None:
            return stated
    for name, cell in row.items():
        match, took = _TIME.fullmatch(name), number_in(cell)
        if match and took and batch and output:
            return batch * output / (took / MILLISECONDS_PER_SECOND if match[1] == "ms" else took)
    return None


def _first(row: dict[str, str], names: tuple[str, ...]) -> int | None:
    return next((value for name in names if (value := whole_in(row.get(name))) is not None), None)
