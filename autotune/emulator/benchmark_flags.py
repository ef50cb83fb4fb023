"""Flags of the stand-in benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autotune.errors import UsageError

_DATA_SETS: Final = (
    "ceval", "gsm8k", "oasst1", "humaneval", "boolq", "mmlu", "truthfulqa", "mtbench", "cocotest",
    "synthetic",
)  # fmt: skip
_CONCURRENCY_HIGH: Final = 60000


@dataclass(frozen=True, kw_only=True, slots=True)
class Flags:
    """What a run was asked to do."""

    url: str
    model_name: str
    dataset_path: str
    dataset_type: str
    concurrency: int
    max_output_len: int
    request_count: int
    """-1 takes the whole data set."""
    warmup_size: int
    save_path: str
    stream: bool


def read_flags(argv: Sequence[str]) -> Flags:
    """The flags of a command line. Raises UsageError for one that is wrong or missing."""
    if len(argv) % 2 or not all(name.startswith("--") for name in argv[::2]):
        raise UsageError("benchmark: every flag needs a value")
    given = {name[2:]: value for name, value in zip(argv[::2], argv[1::2], strict=True)}
    for name in ("ModelName", "ModelPath", "DatasetType"):
        if name not in given:
            raise UsageError(f"benchmark: error: the following arguments are required: --{name}")
    if given["DatasetType"] not in _DATA_SETS:
        raise UsageError(f"benchmark: error: --DatasetType: invalid choice: {given['DatasetType']!r}")
    return Flags(
        url=given.get("Http", "https://127.0.0.1:1025"),
        model_name=given["ModelName"],
        dataset_path=given.get("DatasetPath", ""),
        dataset_type=given["DatasetType"],
        concurrency=_whole(given, "Concurrency", 128, _CONCURRENCY_HIGH),
        max_output_len=_whole(given, "MaxOutputLen", 20, 1048576),
        request_count=int(given.get("RequestCount", "-1")),
        warmup_size=int(given.get("WarmupSize", "10")),
        save_path=given.get("SavePath", str(Path("instance"))),
        stream=given.get("TaskKind", "stream") != "text",
    )


def _whole(given: dict[str, str], name: str, default: int, high: int) -> int:
    text = given.get(name, str(default))
    if not text.isdecimal() or not 1 <= int(text) <= high:
        raise UsageError(f"benchmark: error: --{name} must be in [1, {high}], got {text}")
    return int(text)
