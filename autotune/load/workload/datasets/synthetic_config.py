"""The synthetic configuration of MindIE's benchmark: a JSON file of distributions, or a CSV of lengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.errors import UsageError
from autotune.foreign import whole
from autotune.load.workload.datasets.files import csv_rows, json_document
from autotune.load.workload.lengths import Gaussian, Lengths, Uniform, Zipf

_COLUMNS = 2
_MOST_TOKENS = 10_000_000
"""More than any context holds; a prompt of that length is still made at once."""
_LARGEST = 1e15
_PARAMETERS = {
    "uniform": ("MinValue", "MaxValue"),
    "gaussian": ("Mean", "Var", "MinValue", "MaxValue"),
    "zipf": ("Alpha", "MinValue", "MaxValue"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SyntheticConfig:
    """Distributions and how many requests, or the lengths themselves in order."""

    input_tokens: Lengths | None = None
    output_tokens: Lengths | None = None
    count: int = 0
    pairs: tuple[tuple[int, int], ...] = ()


def read_synthetic_config(path: Path) -> SyntheticConfig:
    """By the suffix, as the vendor's tool does. Raises UsageError with what does not fit."""
    if path.name.endswith((".csv", ".csv.gz")):
        return SyntheticConfig(pairs=_pairs(path))
    document = json_document(path)
    keys = {"Input", "Output", "RequestCount"}
    if not isinstance(document, dict) or set(document) != keys:
        raise UsageError(f"{path}: a synthetic configuration has exactly the keys {', '.join(sorted(keys))}")
    count = document["RequestCount"]
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UsageError(f"{path}: RequestCount must be a whole number above zero, not {count!r}")
    return SyntheticConfig(
        input_tokens=_lengths(document["Input"], f"{path}: Input"),
        output_tokens=_lengths(document["Output"], f"{path}: Output"),
        count=count,
    )


def _lengths(part: Any, where: str) -> Lengths:
    if not isinstance(part, dict) or set(part) != {"Method", "Params"}:
        raise UsageError(f"{where} has exactly the keys Method and Params")
    method, values = part["Method"], part["Params"]
    if method not in _PARAMETERS:
        raise UsageError(f"{where}: Method is one of {', '.join(_PARAMETERS)}, not {method!r}")
    names = _PARAMETERS[method]
    if not isinstance(values, dict) or set(values) != set(names):
        raise UsageError(f"{where}: {method} has exactly the parameters {', '.join(names)}")
    if not all(type(value) in {int, float} and abs(value) < _LARGEST for value in values.values()):
        raise UsageError(f"{where}: a parameter is no number that can be worked with")
    if values.get("Var", 0) < 0:
        raise UsageError(f"{where}: Var is below 0")
    low, high = int(values["MinValue"]), int(values["MaxValue"])
    if not 1 <= low <= high <= _MOST_TOKENS:
        raise UsageError(
            f"{where}: MinValue {low} and MaxValue {high} are not 1 <= min <= max <= {_MOST_TOKENS}"
        )
    return _distribution(method, values, low, high)


def _distribution(method: str, values: dict[str, float], low: int, high: int) -> Lengths:
    if method == "uniform":
        return Uniform(low=low, high=high)
    if method == "gaussian":
        return Gaussian(mean=values["Mean"], variance=values["Var"], low=low, high=high)
    return Zipf(alpha=values["Alpha"], low=low, high=high)


def _pairs(path: Path) -> tuple[tuple[int, int], ...]:
    rows = list(csv_rows(path))
    pairs = tuple(_pair(path, number, cells) for number, cells in rows[1:] if cells != rows[0][1])
    if not pairs:
        raise UsageError(f"{path}: a header and then one row of input and output tokens a request")
    return pairs


def _pair(path: Path, number: int, cells: Sequence[str]) -> tuple[int, int]:
    found = [whole(cell) for cell in cells]
    if len(found) != _COLUMNS or not all(count and count <= _MOST_TOKENS for count in found):
        raise UsageError(f"{path}, line {number}: not exactly two numbers of tokens from 1 to {_MOST_TOKENS}")
    return found[0] or 0, found[1] or 0
