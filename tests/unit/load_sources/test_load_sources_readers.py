"""Outputs of other benchmark tools, as published, and the readings that they give."""

import json
from pathlib import Path

import pytest

from autotune.errors import NotMeasurable
from autotune.load.sources import ais_bench, evalscope, mindie_benchmark, serving_result
from autotune.load.sources.reading import UNKNOWN, BenchmarkReading, UnreadableOutput, checked
from autotune.load.sources.recognise import READERS, read_output

BENCH = Path(__file__).parents[2] / "golden" / "bench"
EXPECTED = json.loads((BENCH / "expected.json").read_text(encoding="utf-8"))


def text_of(identity):
    (path,) = BENCH.glob(f"{identity}_*")
    return path.read_text(encoding="utf-8")


def test_the_vendors_benchmark_gives_its_output_speed():
    facts = EXPECTED["b05"]
    reading = read_output(text_of("b05"))
    assert reading.output_tokens_per_second == facts["generate_speed_tok_s"]
    assert (reading.requests, reading.completed, reading.failed) == (facts["requests"], facts["requests"], 0)
    assert reading.ttft_ms.mean == facts["avg_ttft_ms"]
    assert reading.event_gap_ms.mean == facts["avg_decode_ms"]
    assert reading.mean_output_tokens == facts["avg_output_tokens"]
    assert reading.mean_input_tokens == facts["avg_input_tokens"]
    assert reading.concurrency == 10
    assert reading.tpot_ms.mean == pytest.approx((14356.007 - 97.07) / 481.07)
    assert reading.tpot_ms.p90 == 29.9204


def test_a_batch_of_one_prefill_reads_nine_times_slower():
    gain = (
        read_output(text_of("b05")).output_tokens_per_second
        / read_output(text_of("b04")).output_tokens_per_second
    )
    assert gain == pytest.approx(EXPECTED["b05"]["gain_over_b04"], abs=0.01)


def test_of_several_runs_all_are_read_and_the_last_counts():
    speeds = [run.output_tokens_per_second for run in mindie_benchmark.read_console(text_of("b01"))]
    assert speeds == EXPECTED["b01"]["generate_speed_tok_s"]
    assert read_output(text_of("b01")).output_tokens_per_second == speeds[-1]


def test_the_newest_output_keeps_output_and_total_apart():
    reading, facts = read_output(text_of("b06")), EXPECTED["b06"]
    assert reading.output_tokens_per_second == facts["output_generate_speed"]
    assert reading.total_tokens_per_second == facts["total_generate_speed"]
    assert reading.concurrency == facts["configured_concurrency"]
    assert reading.requests == facts["requests"]


def test_the_csv_files_give_the_same_reading_as_the_console():
    common, performance = text_of("b24"), text_of("b23")
    reading = mindie_benchmark.read_csv(common, performance)
    assert reading.output_tokens_per_second == EXPECTED["b06"]["output_generate_speed"]
    assert reading.ttft_ms == read_output(text_of("b05")).ttft_ms
    assert mindie_benchmark.read_csv(common).ttft_ms == UNKNOWN


def test_vllm_bench_serve_is_read():
    reading, facts = read_output(text_of("b08")), EXPECTED["b08"]
    assert reading.tool == serving_result.VLLM
    assert (reading.completed, reading.failed) == (facts["successful"], facts["failed"])
    assert reading.output_tokens_per_second == facts["output_tok_s"]
    assert reading.total_tokens_per_second == facts["total_tok_s"]
    assert (reading.ttft_ms.mean, reading.ttft_ms.p99) == (facts["mean_ttft_ms"], facts["p99_ttft_ms"])
    assert reading.tpot_ms.mean == facts["mean_tpot_ms"]
    assert reading.concurrency is None


def test_a_configured_concurrency_is_not_the_peak():
    reading, facts = read_output(text_of("b17")), EXPECTED["b17"]
    assert reading.concurrency == facts["max_concurrency"]
    assert (reading.completed, reading.failed) == (facts["success"], facts["failed"])
    assert reading.output_tokens_per_second == facts["output_tok_s"]


def test_sglang_against_mindie_is_read():
    reading, facts = read_output(text_of("b20")), EXPECTED["b20"]
    assert reading.tool == serving_result.SGLANG
    assert reading.output_tokens_per_second == facts["output_tok_s"]
    assert reading.requests_per_second == facts["request_s"]
    assert reading.concurrency_reached == facts["concurrency_measured"]
    assert reading.concurrency is None
    assert reading.output_tokens == 234101


def test_ais_bench_gives_the_speed_of_the_system_and_not_that_of_a_request():
    reading, facts = read_output(text_of("b11")), EXPECTED["b11"]
    assert reading.output_tokens_per_second == facts["output_tok_s"]
    assert reading.completed == facts["success"]
    assert reading.seconds == pytest.approx(facts["duration_ms"] / 1000)
    assert reading.concurrency_reached == facts["real_concurrency"]
    assert reading.concurrency == facts["max_concurrency"]
    assert (reading.ttft_ms.mean, reading.tpot_ms.mean) == (facts["avg_ttft_ms"], facts["avg_tpot_ms"])


def test_the_json_file_of_ais_bench_gives_the_same_numbers_as_its_console():
    console, file = read_output(text_of("b11")), ais_bench.read_files(text_of("b26"))
    assert file.output_tokens_per_second == console.output_tokens_per_second
    assert (file.completed, file.concurrency, file.seconds) == (
        console.completed,
        console.concurrency,
        console.seconds,
    )


def test_the_latency_file_of_ais_bench_is_read_beside_it():
    latencies = (
        "Performance Parameters,Stage,Average,Min,Max,Median,P75,P90,P99,N\n"
        "TTFT,total,238.6 ms,107.9 ms,276.7 ms,254.0 ms,265.6 ms,272.4 ms,276.3 ms,8\n"
    )
    assert ais_bench.read_files(text_of("b26"), latencies).ttft_ms == read_output(text_of("b11")).ttft_ms


def test_the_steady_stage_of_ais_bench_comes_before_the_whole_run():
    common = {
        "Success Requests": {"total": 8},
        "Output Token Throughput": {"total": "90 token/s", "stable": "100 token/s"},
    }
    assert ais_bench.read_files(json.dumps(common)).output_tokens_per_second == 100


def test_evalscope_is_read_in_milliseconds():
    reading, facts = read_output(text_of("b14")), EXPECTED["b14"]
    assert reading.output_tokens_per_second == facts["output_tok_s"]
    assert reading.total_tokens_per_second == facts["total_tok_s"]
    assert (reading.completed, reading.failed) == (facts["success"], facts["failed"])
    assert (reading.ttft_ms.mean, reading.tpot_ms.mean) == (facts["ttft_ms"], facts["tpot_ms"])
    assert reading.concurrency == facts["concurrency"]
    assert reading.e2e_ms.mean == 18780.0
    assert reading.ttft_ms.p99 == 2319.52


def test_an_old_evalscope_that_did_not_stream_has_no_first_token():
    reading, facts = read_output(text_of("b15")), EXPECTED["b15"]
    assert reading.output_tokens_per_second == facts["throughput_avg_tok_s"]
    assert reading.requests_per_second == facts["qps"]
    assert not reading.streamed
    assert reading.ttft_ms == reading.tpot_ms == UNKNOWN
    assert reading.e2e_ms.mean == pytest.approx(8636.0)
    assert reading.e2e_ms.p90 == pytest.approx(11075.0)


def test_an_old_evalscope_that_streamed_has_one():
    text = text_of("b15").replace(
        "Average time to first token (s)   | 8.636 ", "Average time to first token (s)   | 0.321 "
    )
    assert read_output(text).ttft_ms.mean == pytest.approx(321.0)


def test_the_result_file_of_vllm_is_read():
    result = {
        "completed": 10, "failed": 2, "num_prompts": 12, "duration": 19.92, "output_throughput": 133.67,
        "total_token_throughput": 202.64, "request_throughput": 0.5, "max_concurrency": 50,
        "total_output_tokens": 2663, "total_input_tokens": 1374, "mean_ttft_ms": 127.1, "p99_tpot_ms": 26.64,
    }  # fmt: skip
    reading = serving_result.read_json(json.dumps(result))
    assert (reading.requests, reading.completed, reading.failed) == (12, 10, 2)
    assert (reading.output_tokens_per_second, reading.concurrency) == (133.67, 50)
    assert (reading.ttft_ms.mean, reading.tpot_ms.p99) == (127.1, 26.64)


@pytest.mark.parametrize("source", [*READERS, None, "unheard of"])
@pytest.mark.parametrize("text", ["", "Benchmark task completed successfully!", "+---+\n| a |\n+---+"])
def test_what_holds_no_result_is_never_read_as_a_number(source, text):
    with pytest.raises(UnreadableOutput) as caught:
        read_output(text, source)
    assert isinstance(caught.value, NotMeasurable)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (serving_result.read_json, "{"),
        (serving_result.read_json, "[]"),
        (ais_bench.read_files, "{"),
        (ais_bench.read_files, "[]"),
        (mindie_benchmark.read_csv, "CurrentTime\n"),
    ],
)
def test_a_spoilt_file_is_never_read_as_a_number(read, text):
    with pytest.raises(UnreadableOutput):
        read(text)


def test_a_run_in_which_every_request_failed_is_never_read_as_a_number():
    text = text_of("b17").replace("Successful requests:                     1000", "Successful requests: 0")
    with pytest.raises(UnreadableOutput, match="none of 0 requests"):
        serving_result.read_console(text)
    failed = (
        text_of("b05")
        .replace("200( 100.0% )", "0( 0.0% )      ")
        .replace("0( 0.0% ) |", "200( 100.0% ) |", 1)
    )
    with pytest.raises(UnreadableOutput, match="none of 200 requests"):
        mindie_benchmark.read_console(failed)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("inf"), float("nan")])
def test_a_speed_that_is_none_is_refused(speed):
    reading = BenchmarkReading(tool="any", output_tokens_per_second=speed, completed=1, failed=0, requests=1)
    with pytest.raises(UnreadableOutput, match="no generated tokens"):
        checked(reading)


def test_every_reader_takes_its_own_output():
    for identity, source in (
        ("b05", "benchmark"),
        ("b11", "ais_bench"),
        ("b17", "vllm_bench"),
        ("b14", "evalscope"),
    ):
        assert read_output(text_of(identity), source) == read_output(text_of(identity))
    assert evalscope.read_console(text_of("b14")).tool == "evalscope perf"
