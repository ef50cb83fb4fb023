"""Multiple-choice exams in CSV files: C-Eval and MMLU with five examples before each question; TruthfulQA."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from autotune.errors import UsageError
from autotune.load.workload.datasets.files import csv_rows, field, files_of, named_rows
from autotune.load.workload.prompt import Prompt

_SHOTS = 5
_COLUMNS = 6
_CHOICES = ("A", "B", "C", "D")


def read_truthfulqa(path: Path) -> tuple[Prompt, ...]:
    """The column `Question`."""
    rows = ((file, row) for file in files_of(path, ".csv") for _, row in named_rows(file))
    return tuple(Prompt(text=field(row, "Question", file)) for file, row in rows)


def read_ceval(path: Path) -> tuple[Prompt, ...]:
    """`val/*_val.csv` with the examples of `dev/*_dev.csv`; a single file goes without examples it lacks."""
    prompts: list[Prompt] = []
    for file in _halves(path, "val"):
        subject = _subject(file, "val")
        examples = _ceval_block(_beside(file, "dev", subject))
        head = f"以下是中国关于{subject}考试的单项选择题，请选出其中的正确答案。\n\n"
        for _, row in named_rows(file):
            question = _asked([field(row, name, file) for name in ("question", *_CHOICES)], "答案：")
            identity = f"{subject}/{row.get('id', '')}"
            prompts.append(Prompt(text=head + examples + question, identity=identity))
    return tuple(prompts)


def read_mmlu(path: Path) -> tuple[Prompt, ...]:
    """`test/*_test.csv` with the examples of `dev/*_dev.csv`; files without a header."""
    prompts: list[Prompt] = []
    for file in _halves(path, "test"):
        subject = _subject(file, "test")
        topic = subject.replace("_", " ")
        head = f"The following are multiple choice questions (with answers) about {topic}.\n\n"
        examples = _mmlu_block(_beside(file, "dev", subject))
        for number, cells in csv_rows(file):
            if tuple(cells[1:5]) == _CHOICES:  # some copies have a header
                continue
            if len(cells) < _COLUMNS:
                raise UsageError(
                    f"{file}, line {number}: {len(cells)} columns, but question, A-D, answer are 6"
                )
            prompts.append(
                Prompt(text=head + examples + _asked(cells[:5], "Answer:"), identity=f"{subject}/{number}")
            )
    return tuple(prompts)


def _halves(path: Path, half: str) -> tuple[Path, ...]:
    if path.is_file():
        return (path,)
    inner = path / half
    return files_of(inner if inner.is_dir() else path, f"_{half}.csv")


def _subject(file: Path, half: str) -> str:
    """`accountant` of accountant_val.csv and of accountant_val.csv.gz."""
    return file.name.split(".")[0].removesuffix(f"_{half}")


def _beside(file: Path, half: str, subject: str) -> Path | None:
    names = (f"{subject}_{half}.csv", f"{subject}_{half}.csv.gz")
    places = [where / name for where in (file.parent.parent / half, file.parent) for name in names]
    return next((place for place in places if place.is_file()), None)


def _ceval_block(file: Path | None) -> str:
    if file is None:
        return ""
    rows = [row for _, row in islice(named_rows(file), _SHOTS)]
    names = ("question", *_CHOICES)
    blocks = (
        _asked([field(row, name, file) for name in names], f"答案：{row.get('answer', '')}") for row in rows
    )
    return "".join(f"{block}\n\n" for block in blocks)


def _mmlu_block(file: Path | None) -> str:
    if file is None:
        return ""
    whole = (cells for _, cells in csv_rows(file) if len(cells) >= _COLUMNS)
    rows = list(islice((cells for cells in whole if tuple(cells[1:5]) != _CHOICES), _SHOTS))
    return "".join(f"{_asked(cells[:5], f'Answer: {cells[5]}')}\n\n" for cells in rows)


def _asked(cells: Sequence[str], last: str) -> str:
    question, *choices = cells
    lines = (f"{name}. {choice}" for name, choice in zip(_CHOICES, choices, strict=True))
    return "\n".join((question, *lines, last))
