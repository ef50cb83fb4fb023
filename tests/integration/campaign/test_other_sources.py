"""A campaign whose load another tool produces."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

GSM8K = Path(__file__).parents[2] / "golden" / "datasets" / "d01_gsm8k.jsonl"
DATASET = f"workload.dataset={{type: gsm8k, path: {GSM8K}}}"
FEW = ("--max-launches", "1", "--set", "measuring.final_half_width=1%", "--set", "measuring.level_cap=10m")


def levels_of(document):
    return [level for launch in document["launches"] for level in launch["levels"]]


def test_the_vendors_benchmark_command_carries_a_campaign(make_job):
    job = make_job()
    before = job.fingerprint()
    done = job.tune(
        *("--set", "workload.source=benchmark", "--set", DATASET, "--set", "workload.requests=96"),
        *FEW,
        "--json",
    )
    assert done.returncode == 0, done.stderr
    levels = levels_of(json.loads(done.stdout))
    assert levels
    assert all(level["invalid"] is None for level in levels), levels
    assert all(level["requests"] == level["completed"] for level in levels), levels
    assert all(level["half_width"] > 0 for level in levels)
    # the level that is compared takes its interval from two runs; one that only looks is a run alone
    counts = [1 if level["assumed_noise"] else 2 for level in levels]
    assert [level["requests"] for level in levels] == [96 * count for count in counts]
    assert counts[-1] == 2
    runs = sorted((job.state / "runs").rglob("result_common_*.csv"))
    assert len(runs) == sum(counts)
    assert len({run.parent.parent for run in runs}) == len(runs)
    job.nothing_left(before)
