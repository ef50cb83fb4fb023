"""The vendor's benchmark: its tables and CSV files of every generation, read and printed."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.mindie_rules.benchmark_output import (
    BenchmarkRun,
    CommonMetrics,
    Generation,
    Row,
    Statistics,
    print_common_csv,
    print_performance_csv,
    print_tables,
    read_common_csv,
    read_performance_csv,
    read_runs,
)
from autotune.mindie_rules.tables import number_in, tables_in, whole_in
from autotune.mindie_rules.time_units import seconds_in

BENCH = Path(__file__).parents[2] / "golden" / "bench"
EXPECTED = json.loads((BENCH / "expected.json").read_text(encoding="utf-8"))


def text_of(identity):
    (path,) = BENCH.glob(f"{identity}_*")
    return path.read_text(encoding="utf-8")


def test_three_runs_of_2024_are_read_with_their_misspelt_throughput():
    runs, facts = read_runs(text_of("b01")), EXPECTED["b01"]
    common = [run.common for run in runs]
    assert len(runs) == facts["runs"]
    assert [run.requests_per_second for run in common] == facts["throughput_req_s"]
    assert [run.output_tokens_per_second for run in common] == facts["generate_speed_tok_s"]
    assert [run.output_tokens_per_second_per_client for run in common] == facts["per_client"]
    assert [run.accuracy for run in common] == facts["accuracy"]
    assert {run.concurrency for run in common} == {facts["concurrency"]}
    assert runs[0].performance[Row.DECODE_TIME].p90 is None
    assert runs[0].performance[Row.CHARACTERS_PER_TOKEN].maximum is None


@pytest.mark.parametrize("identity", ["b04", "b05"])
def test_runs_of_2025_are_read(identity):
    (run,), facts = read_runs(text_of(identity)), EXPECTED[identity]
    assert run.common.total == run.common.returned == facts["requests"]
    assert run.common.output_tokens_per_second == facts["generate_speed_tok_s"]
    assert run.performance[Row.FIRST_TOKEN_TIME].average == facts["avg_ttft_ms"]
    assert run.performance[Row.DECODE_TIME].average == facts["avg_decode_ms"]


def test_a_mean_that_stalls_have_spoilt_stands_beside_its_p75():
    (run,) = read_runs(text_of("b04"))
    decode = run.performance[Row.DECODE_TIME]
    assert (decode.average, decode.p75) == (
        EXPECTED["b04"]["avg_decode_ms"],
        EXPECTED["b04"]["p75_decode_ms"],
    )
    assert decode.slo_p90 == 507.8787


def test_the_newest_speeds_are_told_apart():
    (run,), facts = read_runs(text_of("b06")), EXPECTED["b06"]
    assert run.common.output_tokens_per_second == facts["output_generate_speed"]
    assert run.common.total_tokens_per_second == facts["total_generate_speed"]
    assert run.common.concurrency == facts["configured_concurrency"]
    assert run.common.output_tokens_per_second_per_client == facts["per_client"]


@pytest.mark.parametrize(
    ("identity", "generation"), [("b01", Generation.RC2), ("b05", Generation.V1), ("b06", Generation.V2)]
)
def test_a_published_output_is_printed_line_for_line(identity, generation):
    published = text_of(identity).splitlines()
    printed = print_tables(read_runs(text_of(identity))[0], generation).splitlines()
    if identity == "b06":  # its second table is out of line, since a path in it was replaced
        printed = printed[: printed.index("The BenchMark test common metric result is:")]
    assert len(printed) > 10
    assert [line for line in printed if line not in published] == []


def test_the_csv_files_are_read_by_the_order_of_their_rows():
    performance = read_performance_csv(text_of("b23"))
    (table,) = read_runs(text_of("b05"))
    for row, statistics in performance.items():
        assert statistics == table.performance[row]
    assert list(EXPECTED["b23"]["rows"])[5] == "SLO_P90"
    assert performance[Row.DECODE_TIME].slo_p90 == 29.9204
    assert read_common_csv(text_of("b24")) == read_runs(text_of("b06"))[0].common


def test_a_csv_file_without_rows_gives_nothing():
    assert read_performance_csv("") == {}
    assert read_common_csv("CurrentTime,TimeElapsed\n") is None


NUMBER = st.none() | st.integers(1, 10**9).map(lambda tenthousandths: tenthousandths / 10**4)
STATISTICS = st.builds(
    Statistics,
    average=NUMBER, maximum=NUMBER, minimum=NUMBER, p75=NUMBER, p90=NUMBER, slo_p90=NUMBER, p99=NUMBER,
    count=st.integers(1, 10**6),
)  # fmt: skip
POSITIVE = st.integers(1, 10**9).map(lambda tenthousandths: tenthousandths / 10**4)
COMMON = st.builds(
    CommonMetrics,
    current_time=st.just("2025-11-07 15:33:18"),
    seconds=POSITIVE,
    data_source=st.sampled_from(["/data/test.jsonl", "/data/a,b.jsonl"]),
    failed=st.integers(0, 99),
    returned=st.integers(1, 999),
    total=st.integers(1000, 2000),
    concurrency=st.integers(1, 1000),
    model_name=st.just("llama3-8b"),
    prompt_ms_per_token=POSITIVE,
    requests_per_second=POSITIVE,
    output_tokens_per_second=POSITIVE,
    input_tokens_per_second=POSITIVE,
    total_tokens_per_second=POSITIVE,
    output_tokens_per_second_per_client=POSITIVE,
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(Row), STATISTICS, min_size=1), COMMON)
def test_what_is_printed_is_read_back(performance, common):
    run = BenchmarkRun(performance=performance, common=common)
    assert read_runs(print_tables(run, Generation.V2, prefix="[benchmark] [INFO]")) == (run,)
    assert read_common_csv(print_common_csv(common, Generation.V2)) == common
    assert read_performance_csv(print_performance_csv(performance, Generation.V2)) == performance


def test_a_run_in_which_every_request_failed_shows_it_in_its_counts():
    run = BenchmarkRun(performance={}, common=CommonMetrics(failed=20, total=20))
    (read,) = read_runs(print_tables(run, Generation.V1))
    assert (read.common.failed, read.common.returned, read.common.total) == (20, 0, 20)
    assert read.common.output_tokens_per_second == 0


def test_a_console_without_tables_has_no_runs():
    assert (
        read_runs("Benchmark task is running, please wait...\nBenchmark task completed successfully!\n") == ()
    )


@pytest.mark.parametrize(
    ("cell", "number"),
    [("64.7768 ms", 64.7768), ("1,381", 1381.0), ("0.0", 0.0), ("-1.00", -1.0), ("/ μs", None), ("-", None),
     ("nan", None), ("", None), (None, None), ("2.5e3 token/s", 2500.0)],
)  # fmt: skip
def test_a_cell_is_read_without_its_unit(cell, number):
    assert number_in(cell) == number
    assert whole_in(cell) == (None if number is None else round(number))


def test_two_drawn_tables_that_touch_are_two():
    text = "╒═══╤═══╕\n│ A │ B │\n╞═══╪═══╡\n│ 1 │ 2 │\n╘═══╧═══╛\n╒═══╕\n│ C │\n╘═══╛"
    first, second = tables_in(text)
    assert first.rows == (("A", "B"), ("1", "2"))
    assert second.heading == ("C",)
    assert first.value("1") == "2"
    assert first.value("9") is None


@pytest.mark.parametrize("tenthousandths", [21, 42, 84, 131, 168, 5737, 10**9 - 1])
def test_seconds_are_read_to_their_last_digit(tenthousandths):
    seconds = tenthousandths / 10**4
    assert seconds_in(f"{seconds:.4f} s") == seconds
