"""Token ids: a CSV file without header, one request a row, rows of any length."""

from pathlib import Path

from autotune.errors import UsageError
from autotune.foreign import whole
from autotune.load.workload.datasets.files import csv_rows
from autotune.load.workload.prompt import Prompt


def read_token_ids(path: Path) -> tuple[Prompt, ...]:
    """One prompt a row. Raises UsageError when it is no file, or a cell is no token id."""
    if not path.is_file():
        raise UsageError(f"a token-id data set is one CSV file, {path} is none", hint="name the file itself")
    rows = (_ids(path, number, cells) for number, cells in csv_rows(path))
    return tuple(Prompt(token_ids=ids, input_tokens=len(ids)) for ids in rows)


def _ids(path: Path, number: int, cells: list[str]) -> tuple[int, ...]:
    ids = []
    for cell in (cell.strip() for cell in cells):
        if not cell:
            continue
        token = whole(cell)
        if token is None:
            raise UsageError(f"{path}, line {number}: {cell[:40]!r} is no token id")
        ids.append(token)
    return tuple(ids)
