"""Reads the vendor's own benchmark command: its console tables and its two CSV files."""

from collections.abc import Mapping

from autotune.load.sources.reading import BenchmarkReading, UnreadableOutput, checked
from autotune.mindie_rules.benchmark_output import (
    BenchmarkRun,
    Row,
    Statistics,
    read_common_csv,
    read_performance_csv,
    read_runs,
)
from autotune.model.measurement import Distribution

TOOL = "MindIE benchmark"


def read_console(text: str) -> tuple[BenchmarkReading, ...]:
    """Every run on the console, in order. Raises UnreadableOutput when there is none."""
    runs = read_runs(text)
    if not runs:
        raise UnreadableOutput(
            f"{TOOL}: the output shows no result table",
            hint='set MINDIE_LOG_TO_STDOUT="benchmark:1; client:1", or read its CSV files',
        )
    return tuple(_reading(run) for run in runs)


def read_csv(common: str, performance: str = "") -> BenchmarkReading:
    """Read result_common_*.csv and, for the latencies, result_perf_*.csv. Raises UnreadableOutput."""
    values = read_common_csv(common)
    if values is None:
        raise UnreadableOutput(f"{TOOL}: the result_common file has no row")
    return _reading(BenchmarkRun(performance=read_performance_csv(performance), common=values))


def _reading(run: BenchmarkRun) -> BenchmarkReading:
    common = run.common
    generated = run.performance.get(Row.GENERATED_TOKENS, Statistics())
    prompts = run.performance.get(Row.INPUT_TOKENS, Statistics())
    mean = generated.average
    return checked(
        BenchmarkReading(
            tool=TOOL,
            output_tokens_per_second=common.output_tokens_per_second or 0.0,
            completed=common.returned,
            failed=common.failed,
            requests=common.total or common.returned + common.failed,
            total_tokens_per_second=common.total_tokens_per_second,
            requests_per_second=common.requests_per_second,
            seconds=common.seconds,
            concurrency=common.concurrency,
            output_tokens=None if mean is None else round(mean * common.returned),
            mean_output_tokens=mean,
            mean_input_tokens=prompts.average,
            ttft_ms=_distribution(run.performance, Row.FIRST_TOKEN_TIME),
            event_gap_ms=_distribution(run.performance, Row.DECODE_TIME),
            tpot_ms=_time_per_token(run.performance),
            e2e_ms=_distribution(run.performance, Row.GENERATE_TIME),
        )
    )


def _distribution(performance: Mapping[Row, Statistics], row: Row) -> Distribution:
    found = performance.get(row, Statistics())
    return Distribution(mean=found.average, p75=found.p75, p90=found.p90, p99=found.p99)


def _time_per_token(performance: Mapping[Row, Statistics]) -> Distribution:
    """Time per output token after the first, from the means of whole replies, first tokens and lengths.

    SLO_P90 is the P90 over requests of each one's mean.
    """
    whole = performance.get(Row.GENERATE_TIME, Statistics()).average
    first = performance.get(Row.FIRST_TOKEN_TIME, Statistics()).average
    tokens = performance.get(Row.GENERATED_TOKENS, Statistics()).average
    mean = None
    if whole is not None and first is not None and tokens is not None and tokens > 1:
        mean = (whole - first) / (tokens - 1)
    return Distribution(mean=mean, p90=performance.get(Row.DECODE_TIME, Statistics()).slo_p90)
