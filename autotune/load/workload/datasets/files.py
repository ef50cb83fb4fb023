"""Files of a data set: found in a directory or named, read with errors that say where."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autotune.errors import UsageError
from autotune.foreign import json_value

_HINT = "the kind of the data set says how it is read: workload.dataset.type, or --dataset-type"
_PACKED = ".gz"


def files_of(path: Path, suffix: str) -> tuple[Path, ...]:
    """The file itself, or all files with this suffix below the directory, in order of their names.

    Raises UsageError when there is none.
    """
    if path.is_file():
        return (path,)
    if not path.is_dir():
        raise UsageError(f"the data set {path} is not there", hint=f"ls {path.parent}")
    names = (f"*{suffix}", f"*{suffix}{_PACKED}")
    found = tuple(sorted(one for name in names for one in path.rglob(name) if one.is_file()))
    if not found:
        raise UsageError(f"the directory {path} holds no {suffix} file", hint=f"ls {path}")
    return found


def rows_suffix(path: Path, first: str, second: str) -> str:
    """Of two suffixes that a set goes round with, the one that the directory has."""
    has_first = any(path.rglob(f"*{first}")) or any(path.rglob(f"*{first}{_PACKED}"))
    has_second = any(path.rglob(f"*{second}")) or any(path.rglob(f"*{second}{_PACKED}"))
    return second if has_second and not has_first else first


def both_halves(files: tuple[Path, ...]) -> bool:
    """Whether train and test lie side by side, so that a directory means more requests than the test has."""
    names = {part for file in files for part in (file.stem.lower(), file.parent.name.lower())}
    return any("train" in name for name in names) and any("test" in name for name in names)


def json_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON-lines file, blank lines left out, or of one JSON list of objects.

    Raises UsageError with the line, or the place in the list.
    """
    text = _text(file)
    if text.lstrip().startswith("["):
        yield from _listed(file)
        return
    for number, line in enumerate(text.split("\n"), start=1):  # U+2028 and the like may stand in a text
        if not line.strip():
            continue
        try:
            row = json_value(line)
        except ValueError as error:
            raise UsageError(f"{file}, line {number}: no JSON: {error}", hint=_HINT) from error
        if not isinstance(row, dict):
            raise UsageError(f"{file}, line {number}: not a JSON object")
        yield row


def _listed(file: Path) -> Iterator[dict[str, Any]]:
    document = json_document(file)
    for number, row in enumerate(document if isinstance(document, list) else [document], start=1):
        if not isinstance(row, dict):
            raise UsageError(f"{file}, item {number}: not a JSON object")
        yield row


def json_document(file: Path) -> Any:
    """The one JSON document of a file. Raises UsageError."""
    try:
        return json_value(_text(file))
    except ValueError as error:
        raise UsageError(f"{file}: no JSON: {error}", hint=_HINT) from error


def csv_rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row that is not empty."""
    reader = csv.reader(io.StringIO(_text(file), newline=""))
    for row in reader:
        if any(cell.strip() for cell in row):
            yield reader.line_num, row


def named_rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows by the names in the first line, which files that were put together repeat."""
    rows = csv_rows(file)
    header = next(rows, (0, []))[1]
    for number, cells in rows:
        if cells != header:
            yield number, dict(zip((name.strip() for name in header), cells, strict=False))


def field(row: dict[str, Any], name: str, file: Path) -> str:
    """A text that must be there. Raises UsageError with what is there instead."""
    value = row.get(name)
    if value is None:
        value = next((row[key] for key in row if key.lower() == name.lower()), None)
    if not isinstance(value, str):
        there = ", ".join(str(key) for key in row)
        raise UsageError(
            f"{file}: a row has no text {name!r}, only {there}", hint="check the data set's type"
        )
    return value


def _text(file: Path) -> str:
    try:
        if file.suffix == _PACKED:
            return gzip.decompress(file.read_bytes()).decode("utf-8-sig")
        return file.read_text(encoding="utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UsageError(f"{file} can't be read: {error}", hint=f"ls -l {file}") from error
