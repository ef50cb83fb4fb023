"""The stand-in `benchmark`: quiet unless told otherwise, CSV without row labels, exit 0 whatever happens."""

import csv
import json
import os
import re
import subprocess

import pytest

from autotune.mindie_rules.benchmark_output import Row, read_common_csv, read_performance_csv, read_runs

SHOWN = {"MINDIE_LOG_TO_STDOUT": "benchmark:1; client:1"}


def run(daemon, folder, *more, environment=None, url=None):
    data = folder / "gsm8k"
    data.mkdir(exist_ok=True)
    lines = [json.dumps({"question": f"question {number} " * 20, "answer": "1"}) for number in range(12)]
    (data / "test.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    flags = ["--DatasetPath", str(data), "--DatasetType", "gsm8k", "--ModelName", "llama3-8b"]
    flags += ["--ModelPath", str(daemon.install / "model"), "--Http", url or daemon.business]
    flags += ["--Concurrency", "4", "--MaxOutputLen", "8", "--SavePath", str(folder / "out"), *more]
    return subprocess.run(
        [str(daemon.install / "bin" / "benchmark"), *flags],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)} | (environment or {}),
        check=False,
        timeout=60,
    )


def test_without_the_switch_it_says_how_to_see_more_and_shows_no_table(served, tmp_path):
    done = run(served, tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Please execute command `export MINDIE_LOG_TO_STDOUT=")
    assert lines[-1] == "Benchmark task completed successfully!"
    assert "|" not in done.stdout


def test_with_it_the_tables_are_on_the_screen(served, tmp_path):
    done = run(served, tmp_path, environment=SHOWN)
    (found,) = read_runs(done.stdout)
    assert (found.common.returned, found.common.failed, found.common.total) == (12, 0, 12)
    assert found.common.output_tokens_per_second > 0
    assert found.performance[Row.FIRST_TOKEN_TIME].count == 12
    assert 0 < found.performance[Row.GENERATED_TOKENS].average <= 8


def test_the_csv_files_have_eight_rows_without_labels(served, tmp_path):
    run(served, tmp_path)
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert [re.sub(r"\d{17}", "<ts>", name) for name in files] == [
        "result_common_<ts>.csv",
        "result_perf_<ts>.csv",
    ]
    text = (tmp_path / "out" / files[1]).read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    assert rows[0][0] == "FirstTokenTime"
    assert len(rows) == 1 + 8
    assert rows[1][0].endswith(" ms")
    assert read_performance_csv(text)[Row.DECODE_TIME].average > 0
    common = read_common_csv((tmp_path / "out" / files[0]).read_text(encoding="utf-8"))
    assert common is not None
    assert common.concurrency == 4


def test_when_every_request_fails_it_still_ends_with_0_and_zeros(served, tmp_path):
    done = run(served, tmp_path, environment=SHOWN, url="http://127.0.0.1:9")
    assert done.returncode == 0
    assert "[MIE01E000005] All requests failed" in done.stderr
    (found,) = read_runs(done.stdout)
    assert (found.common.failed, found.common.returned) == (12, 0)
    assert found.common.output_tokens_per_second == 0


@pytest.mark.parametrize(("version", "column"), [("2.0", "GenerateSpeed"), ("2.2", "OutputGenerateSpeed")])
def test_each_generation_names_the_speed_in_its_own_way(start, tmp_path, version, column):
    daemon = start(version=version).wait_started()
    done = run(daemon, tmp_path, environment=SHOWN)
    assert re.search(rf"\| +{column} \|", done.stdout)


def test_a_missing_flag_ends_with_1(served):
    done = subprocess.run(
        [str(served.install / "bin" / "benchmark")], capture_output=True, text=True, check=False, timeout=20
    )
    assert done.returncode == 1
