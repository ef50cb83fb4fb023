"""Conversations: ShareGPT (one JSON list) and OASST1 (messages; JSON lines or parquet)."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from autotune.errors import UsageError
from autotune.load.workload.datasets.files import files_of, json_lines, rows_suffix
from autotune.load.workload.prompt import Prompt

_HUMAN = {"human", "user"}
_TURNS = ("conversations", "conversation", "messages", "items")


def read_sharegpt(path: Path) -> tuple[Prompt, ...]:
    """The first human turn of each conversation that has one; empty conversations occur and are left out."""
    prompts: list[Prompt] = []
    for file in _conversation_files(path):
        for row in json_lines(file):
            text = _first_human(_turns(row, file))
            if text:
                prompts.append(Prompt(text=text, identity=str(row.get("id", ""))))
    return tuple(prompts)


def _conversation_files(path: Path) -> tuple[Path, ...]:
    """`.json`, else `.jsonl`; the same set goes round in both forms."""
    return files_of(path, rows_suffix(path, ".json", ".jsonl"))


def read_oasst1(path: Path, language: str = "zh") -> tuple[Prompt, ...]:
    """Messages in one language, those of the assistant left out."""
    parquet = path.suffix == ".parquet" or (path.is_dir() and any(path.rglob("*.parquet")))
    rows = _parquet_rows(path) if parquet else _line_rows(path)
    return tuple(
        Prompt(text=row["text"], identity=str(row.get("message_id", "")))
        for row in rows
        if row.get("lang") == language
        and row.get("role", "prompter") == "prompter"
        and isinstance(row.get("text"), str)
    )


def _turns(row: dict[str, Any], file: Path) -> list[Any]:
    for name in _TURNS:
        if isinstance(row.get(name), list):
            turns: list[Any] = row[name]
            return turns
    there = ", ".join(row)
    raise UsageError(f"{file}: a row has no conversations, only {there}", hint="check the data set's type")


def _first_human(turns: list[Any]) -> str | None:
    for turn in turns:
        if not isinstance(turn, dict) or turn.get("from", turn.get("role")) not in _HUMAN:
            continue
        text = turn.get("value", turn.get("content"))
        if isinstance(text, str):
            return text
    return None


def _line_rows(path: Path) -> Iterator[dict[str, Any]]:
    for file in files_of(path, ".jsonl"):
        yield from json_lines(file)


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        message = f"{path} is parquet, and pyarrow is not installed"
        raise UsageError(message, hint="pip install pyarrow, or give the set as .jsonl") from error
    for file in files_of(path, ".parquet"):
        yield from _parquet_file(file, parquet)


def _parquet_file(file: Path, parquet: ModuleType) -> list[dict[str, Any]]:
    """Pyarrow's own errors are ValueError and OSError."""
    try:
        rows: list[dict[str, Any]] = parquet.read_table(file).to_pylist()
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: no parquet: {error}") from error
    return rows
