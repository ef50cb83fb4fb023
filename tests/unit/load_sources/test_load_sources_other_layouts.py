"""Layouts of the same tools in other versions, as published in guides and repositories."""

import json
from pathlib import Path

import pytest

from autotune.load.sources import ais_bench, serving_result
from autotune.load.sources.json_place import parse_place, value_at_place
from autotune.load.sources.reading import NothingAnswered, UnreadableOutput
from autotune.load.sources.recognise import read_output
from autotune.load.sources.static_test import ceiling_of, read_static_test
from autotune.mindie_rules.time_units import milliseconds_in

BENCH = Path(__file__).parents[2] / "golden" / "bench"

# vllm-ascend's guide to evalscope: the report of a run over several concurrencies
REPORT = """\
Performance Test Summary Report
Basic Information:
+-------------------+------------------------+
| Model             | Qwen3-8B               |
+-------------------+------------------------+
Detailed Performance Metrics
+------+-----+------------+------------+------------+------------+------------+------------+------------+
|Conc. |RPS  |Avg Lat.(s) |P99 Lat.(s) |Gen. Toks/s |Avg TTFT(s) |P99 TTFT(s) |Avg TPOT(s) |Success Rate|
+------+-----+------------+------------+------------+------------+------------+------------+------------+
| 1    |0.07 | 16.191     | 16.475     | 70.40      | 0.080      | 0.085      | 0.016      | 100.0%     |
| 10   |0.53 | 18.927     | 19.461     | 540.87     | 0.503      | 0.562      | 0.018      | 100.0%     |
+------+-----+------------+------------+------------+------------+------------+------------+------------+
"""
# the same as a terminal of 100 columns draws it: headings broken into two lines
NARROW = """\
┏━━━━━━┳━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━┓
┃      ┃      ┃      Avg ┃      P99 ┃    Gen. ┃      Avg ┃     P99 ┃      Avg ┃     P99 ┃   Success┃
┃Conc. ┃  RPS ┃  Lat.(s) ┃  Lat.(s) ┃  toks/s ┃  TTFT(s) ┃ TTFT(s) ┃  TPOT(s) ┃ TPOT(s) ┃      Rate┃
┡━━━━━━╇━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━┩
│   45 │ 1.01 │   44.404 │   44.463 │  259.09 │    4.458 │   5.445 │    0.162 │   0.168 │    100.0%│
│   50 │ 1.08 │   46.286 │   46.354 │  276.12 │    5.084 │   5.907 │    0.176 │   0.177 │    100.0%│
└──────┴──────┴──────────┴──────────┴─────────┴──────────┴─────────┴──────────┴─────────┴──────────┘
"""
# vllm bench serve with chosen percentiles
PERCENTILES = """\
============ Serving Benchmark Result ============
Successful requests:                     250
Failed requests:                         3
Request rate configured (RPS):           0.30
Benchmark duration (s):                  855.52
Total input tokens:                      57988
Total generated tokens:                  50273
Request throughput (req/s):              0.29
Output token throughput (tok/s):         58.76
Peak output token throughput (tok/s):    108.00
Peak concurrent requests:                13.00
Total token throughput (tok/s):          126.54
---------------Time to First Token----------------
Mean TTFT (ms):                          405.13
P50 TTFT (ms):                           402.31
P90 TTFT (ms):                           566.33
P99 TTFT (ms):                           679.24
==================================================
"""
# PARunner's file and modeltest's two, headings as in their public source
RUN_PA = (
    "batch, input_len, output_len, embedding_len, first_token_time(ms),                 "
    "non_first_token_time(ms), ResponseTime(ms),E2E Throughput Average(Tokens/s)\n"
    "1,256,256,,40.1,20.2,5191.1,49.3\n"
    "64,256,256,,900.5,31.7,8984.0,1823.7\n"
)
MODELTEST = """\
Model|Batchsize|In_seq|Out_seq|Total time(s)|Non-first token Throughput(Tokens/s)|E2E Throughput(Tokens/s) \
|Non-first token Throughput Average(Tokens/s)|E2E Throughput Average(Tokens/s)
llama|16       |256   |256    |6.1          |692.6                               |671.5|700.0|640.0
llama|64       |256   |256    |9.0          |2000.0                              |1820.4|700.0|640.0
"""
SPEED_SDK = (
    "batch_size,input_seq_len(Encoding),output_seq_len(Decoding),ResponseTime(s),forward_first_token_time(ms),"
    "forward_next_token_time(ms)\n8,1024,512,16.0,235.0,30.9\n"
)


@pytest.mark.parametrize(
    ("text", "speed", "clients", "ttft"), [(REPORT, 540.87, 10, 503.0), (NARROW, 276.12, 50, 5084.0)]
)
def test_the_report_of_evalscope_gives_its_last_concurrency(text, speed, clients, ttft):
    reading = read_output(text, "evalscope")
    assert (reading.output_tokens_per_second, reading.concurrency) == (speed, clients)
    assert reading.ttft_ms.mean == pytest.approx(ttft)
    assert (reading.ttft_ms.p50, reading.requests) == (None, 0)


def test_a_report_in_which_requests_failed_is_no_reading():
    with pytest.raises(NothingAnswered, match="only 92 %"):
        read_output(REPORT.replace("0.018      | 100.0%", "0.018      | 92.0% "), "evalscope")


def test_a_summary_says_more_than_the_report_after_it():
    (file,) = BENCH.glob("b14_*")
    reading = read_output(file.read_text(encoding="utf-8") + REPORT, "evalscope")
    assert reading.completed == 400


def test_chosen_percentiles_stand_for_the_median():
    reading = serving_result.read_console(PERCENTILES)
    assert (reading.requests, reading.failed) == (253, 3)
    assert (reading.ttft_ms.p50, reading.ttft_ms.p99, reading.tpot_ms.mean) == (402.31, 679.24, None)


def test_ais_bench_names_and_units_of_other_versions_mean_the_same():
    common = {
        "Benchmark Duration": {"total": "41.1612934 s"},
        "Success Requests": {"total": 8},
        "Total Output Tokens": {"total": 3980},
        "Output Token Throughput": {"total": "96.6928 token/s"},
    }
    reading = ais_bench.read_files(
        json.dumps(common), "Performance Parameters,Stage,Average\nTTFT,total,0.2386 s\n"
    )
    assert reading.seconds == pytest.approx(41.1612934)
    assert reading.output_tokens == 3980
    assert reading.ttft_ms.mean == pytest.approx(238.6)


@pytest.mark.parametrize(
    ("cell", "milliseconds"),
    [("12.5 ms", 12.5), ("2 s", 2000.0), ("162.8431 μs", 0.1628431), ("7", 7.0), ("/", None), (None, None)],
)
def test_a_time_has_a_unit(cell, milliseconds):
    assert milliseconds_in(cell) == (milliseconds if milliseconds is None else pytest.approx(milliseconds))


@pytest.mark.parametrize(
    ("text", "speed", "batch", "cases"),
    [(RUN_PA, 1823.7, 64, 2), (MODELTEST, 1820.4, 64, 2), (SPEED_SDK, 256.0, 8, 1)],
)
def test_a_static_test_gives_the_ceiling(text, speed, batch, cases):
    read = read_static_test(text)
    best = ceiling_of(read)
    assert len(read) == cases
    assert (best.tokens_per_second, best.batch_size) == (speed, batch)


@pytest.mark.parametrize("text", ["", "a,b,c,d\n1,2,3,4\n", RUN_PA.splitlines()[0], "batch,x,y,z\n0,1,2,3\n"])
def test_another_file_is_no_static_test(text):
    with pytest.raises(UnreadableOutput):
        read_static_test(text)


@pytest.mark.parametrize(
    ("path", "value"),
    [("$.a", 1), ("$.b[0].c", 2), ("$.b[-1]['c d']", 3), ("$.nothing.here", None), ("$.b[9]", None)],
)
def test_a_json_path_finds_its_place(path, value):
    assert value_at_place({"a": 1, "b": [{"c": 2, "c d": 3}]}, parse_place(path)) == value
