"""Question sets of one JSON object a line: GSM8K, HumanEval, BoolQ, MT-Bench, and plain JSON lines."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autotune.errors import UsageError
from autotune.load.workload.datasets.files import field, files_of, json_lines, rows_suffix
from autotune.load.workload.prompt import Prompt

_PLAIN_NAMES = (
    "prompt",
    "question",
    "text",
    "inputs",
    "input",
    "text_input",
    "instruction",
    "content",
    "问题",
)
_LENGTH_NAMES = ("output_tokens", "max_tokens", "max_new_tokens", "output_len")


def read_questions(path: Path, kind: str) -> tuple[Prompt, ...]:
    """All rows of the file, or of all `.jsonl` files of the directory, else of all `.json` files."""
    reader = _READERS[kind]
    return tuple(
        prompt
        for file in files_of(path, rows_suffix(path, ".jsonl", ".json"))
        for row in json_lines(file)
        for prompt in reader(row, file)
    )


def _gsm8k(row: dict[str, Any], file: Path) -> Iterator[Prompt]:
    yield Prompt(text=field(row, "question", file))


def _humaneval(row: dict[str, Any], file: Path) -> Iterator[Prompt]:
    yield Prompt(text=field(row, "prompt", file).strip(), identity=field(row, "task_id", file))


def _boolq(row: dict[str, Any], file: Path) -> Iterator[Prompt]:
    title, passage = row.get("title"), field(row, "passage", file)
    about = f"{title} -- {passage}" if isinstance(title, str) else passage  # copies without titles go round
    yield Prompt(text=f"{about}\nQuestion: {field(row, 'question', file)}?\nAnswer:")


def _mtbench(row: dict[str, Any], file: Path) -> Iterator[Prompt]:
    """Each turn is a request of its own: the client keeps no text that a second turn could follow."""
    turns = row.get("turns", row.get("prompt"))
    if not isinstance(turns, list) or not turns:
        raise UsageError(f"{file}: a row has no turns", hint="check the data set's type")
    for number, turn in enumerate(turns, start=1):
        yield Prompt(text=str(turn), identity=f"{row.get('question_id', '')}/{number}")


def _plain(row: dict[str, Any], file: Path) -> Iterator[Prompt]:
    text = next((row[name] for name in _PLAIN_NAMES if isinstance(row.get(name), str)), None)
    if text is None:
        text = _last_message(row.get("messages"))
    if text is None:
        there = ", ".join(row)
        raise UsageError(
            f"{file}: no prompt in a row with {there}", hint=f"name it one of {', '.join(_PLAIN_NAMES)}"
        )
    length = next((row[name] for name in _LENGTH_NAMES if isinstance(row.get(name), int)), None)
    yield Prompt(text=text, output_tokens=length)


def _last_message(messages: Any) -> str | None:
    if not isinstance(messages, list) or not messages or not isinstance(messages[-1], dict):
        return None
    content = messages[-1].get("content")
    return content if isinstance(content, str) else None


_READERS: dict[str, Callable[[dict[str, Any], Path], Iterator[Prompt]]] = {
    "gsm8k": _gsm8k,
    "humaneval": _humaneval,
    "boolq": _boolq,
    "mtbench": _mtbench,
    "jsonl": _plain,
}
