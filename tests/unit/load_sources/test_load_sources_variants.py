"""The same results as other systems, screens and versions write them: not one number changes."""

import re
from pathlib import Path

import pytest

from autotune.load.sources import ais_bench, serving_result
from autotune.load.sources.recognise import read_output
from autotune.mindie_rules.benchmark_output import read_common_csv, read_performance_csv

CORPUS = Path(__file__).parents[2] / "golden" / "bench"
OUTPUTS = sorted(CORPUS.glob("b*.txt"))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: f"\ufeff{text}",
        lambda text: re.sub(r"(?m)^", "\x1b[32m", text).replace("\n", "\x1b[0m\n"),
        lambda text: text.replace("\n", "   \n"),
        lambda text: f"noise | of | a log\n\n{text}\n\nTraceback (most recent call last):\n",
    ],
    ids=["CRLF", "BOM", "colours", "trailing spaces", "other lines around"],
)
@pytest.mark.parametrize("file", OUTPUTS, ids=lambda file: file.name[:3])
def test_how_a_console_was_saved_changes_nothing(file, change):
    text = file.read_text(encoding="utf-8")
    assert read_output(change(text)) == read_output(text)


@pytest.mark.parametrize("cells", ["1.2345 s", "1234.5 ms", "1234500 us", "1,234.5 ms", "1234.5"])
def test_a_time_of_the_vendors_benchmark_is_read_with_its_unit(cells):
    text = f"""
| Metric         | P99 | average | N |
| FirstTokenTime | {cells} | {cells} | 10 |
| Common Metric | Value |
| Returned      | 1,200( 100.0% ) |
| Failed        | 0( 0.0% ) |
| GenerateSpeed | 1,234.5 token/s |
| TimeElapsed   | 2 min |
""".replace("\n| Common", "\n\n| Common")
    found = read_output(text, "benchmark")
    assert found.ttft_ms.mean == found.ttft_ms.p99 == pytest.approx(1234.5)
    assert (found.completed, found.output_tokens_per_second, found.seconds) == (1200, 1234.5, 120.0)


def test_the_columns_of_the_vendors_csv_files_stand_in_any_order():
    perf = "GenerateTime,FirstTokenTime\n" + "".join(f"{n}0 ms,{n} ms\n" for n in range(1, 9))
    found = read_performance_csv("\ufeff" + perf.replace("\n", "\r\n"))
    assert {row.title: one.average for row, one in found.items()} == {
        "FirstTokenTime": 1.0,
        "GenerateTime": 10.0,
    }
    common = read_common_csv("\ufeffReturned,OutputGenerateSpeed,Failed\r\n9,12.5 token/s,1\r\n")
    assert common is not None
    assert (common.returned, common.failed, common.output_tokens_per_second) == (9, 1, 12.5)


def test_vllm_in_seconds_and_with_failures():
    text = """
============ Serving Benchmark Result ============
Failed requests:                         3
Successful requests:                     1,000
Output token throughput (tok/s):         1,234.50
Mean TTFT (s):                           0.25
P99 TTFT (s):                            1.5
==================================================
"""
    found = serving_result.read_console(text)
    assert (found.completed, found.failed, found.requests) == (1000, 3, 1003)
    assert (found.ttft_ms.mean, found.ttft_ms.p99) == (250.0, 1500.0)


def test_the_files_of_ais_bench_in_another_order_and_with_a_mark():
    common = '\ufeff{"Success Requests": {"total": "5"}, "Output Token Throughput": {"total": "7.5 token/s"}}'
    latencies = "\ufeffStage,Performance Parameters,Average\r\ntotal,TTFT,9 ms\r\n"
    assert ais_bench.read_files(common).output_tokens_per_second == 7.5
    assert ais_bench.read_files(common, latencies).ttft_ms.mean == 9.0
