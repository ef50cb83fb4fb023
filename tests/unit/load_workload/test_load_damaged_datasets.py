"""Damaged data sets are a usage error that names the place; each case was found by fuzzing."""

import json

import pytest

from autotune.errors import UsageError
from autotune.load.workload.dataset import DatasetRequest, read_dataset

LENGTHS = {"Method": "uniform", "Params": {"MinValue": 1, "MaxValue": 9}}


def synthetic(**params):
    method = "gaussian" if "Var" in params else "uniform"
    return json.dumps({"Input": {"Method": method, "Params": params}, "Output": LENGTHS, "RequestCount": 2})


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("token_ids", "ids.csv", "9" * 5000),
        ("token_ids", "ids.csv", "²"),
        ("synthetic", "s.csv", f"in,out\n{'9' * 5000},1\n"),
        ("synthetic", "s.csv", "in,out\n0,1\n"),
        ("synthetic", "s.json", synthetic(MinValue=1, MaxValue=float("inf"))),
        ("synthetic", "s.json", synthetic(MinValue=1, MaxValue=10**12)),
        ("synthetic", "s.json", synthetic(Mean=1, Var=-1, MinValue=1, MaxValue=9)),
        ("gsm8k", "g.jsonl", "[" * 100_000),
        ("sharegpt", "s.json", "[" * 100_000),
    ],
)
def test_a_damaged_file_is_a_usage_error(tmp_path, kind, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=name):
        read_dataset(DatasetRequest(type=kind, path=path))
