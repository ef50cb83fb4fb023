"""The vendor's benchmark command: its tables and CSV files of every generation, to print and to read.

Sources: public source of the benchmark (December 2025) and public outputs of 2024 to 2025. It ends with
"completed successfully" and exit code 0 also when every request failed: the counts decide.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from typing import Final

from autotune.mindie_rules.tables import Table, draw, number_in, tables_in, whole_in
from autotune.mindie_rules.time_units import milliseconds_in, seconds_in

RUNNING: Final = "Benchmark task is running, please wait..."
COMPLETED: Final = "Benchmark task completed successfully!"
QUIET_HINT: Final = (
    'Please execute command `export MINDIE_LOG_TO_STDOUT="benchmark:1; client:1"` '
    "if log message need to be displayed on screen next time."
)
ALL_FAILED: Final = "[MIE01E000005] All requests failed, please check dataset path or other settings."
_PERFORMANCE: Final = "The BenchMark test performance metric result is:"
_COMMON: Final = "The BenchMark test common metric result is:"
_STATISTICS: Final = ("average", "max", "min", "P75", "P90", "SLO_P90", "P99", "N")
_STATISTICS_2024: Final = ("average", "max", "min", "P75", "P99", "N")
_COUNT_AND_SHARE = re.compile(r"\s*(\d+)\s*[\[(]")


@unique
class Generation(Enum):
    """How the output of a version looks."""

    RC2 = "1.0.RC2"
    """No P90, no SLO_P90; missing values are `-`; Throughput is spelt Throughtput."""
    V1 = "2.0.RC1"
    """P90 and SLO_P90; one GenerateSpeed."""
    V2 = "2.1.RC1"
    """OutputGenerateSpeed, InputGenerateSpeed and TotalGenerateSpeed."""


@unique
class Row(Enum):
    """The rows of the performance table, in their order, and the unit of each."""

    FIRST_TOKEN_TIME = ("FirstTokenTime", "ms")
    DECODE_TIME = ("DecodeTime", "ms")
    LAST_DECODE_TIME = ("LastDecodeTime", "ms")
    MAX_DECODE_TIME = ("MaxDecodeTime", "ms")
    GENERATE_TIME = ("GenerateTime", "ms")
    INPUT_TOKENS = ("InputTokens", "")
    GENERATED_TOKENS = ("GeneratedTokens", "")
    GENERATED_TOKEN_SPEED = ("GeneratedTokenSpeed", "token/s")
    GENERATED_CHARACTERS = ("GeneratedCharacters", "")
    TOKENIZER = ("Tokenizer", "ms")
    DETOKENIZER = ("Detokenizer", "ms")
    CHARACTERS_PER_TOKEN = ("CharactersPerToken", "")
    POST_PROCESSING_TIME = ("PostProcessingTime", "ms")
    FORWARD_TIME = ("ForwardTime", "ms")
    PREFILL_BATCH_SIZE = ("PrefillBatchsize", "")
    DECODER_BATCH_SIZE = ("DecoderBatchsize", "")
    QUEUE_WAIT_TIME = ("QueueWaitTime", "μs")

    def __init__(self, title: str, unit: str) -> None:
        self.title = title
        self.unit = unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """One row: statistics over the requests in the row's unit; None where the output has none."""

    average: float | None = None
    maximum: float | None = None
    minimum: float | None = None
    p75: float | None = None
    p90: float | None = None
    slo_p90: float | None = None
    """P90 over requests of each request's mean; for DecodeTime it differs from p90."""
    p99: float | None = None
    count: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CommonMetrics:
    """The second table: one value for the whole run."""

    current_time: str = ""
    seconds: float | None = None
    """First request to last reply."""
    data_source: str = ""
    failed: int = 0
    returned: int = 0
    total: int = 0
    concurrency: int | None = None
    """As configured; the run may have had fewer requests."""
    model_name: str = ""
    prompt_ms_per_token: float | None = None
    """`lpct`."""
    requests_per_second: float | None = None
    output_tokens_per_second: float | None = None
    input_tokens_per_second: float | None = None
    total_tokens_per_second: float | None = None
    output_tokens_per_second_per_client: float | None = None
    """Output divided by the configured concurrency; never to be compared across concurrencies."""
    accuracy: str = "/"


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchmarkRun:
    """One run of the benchmark."""

    performance: Mapping[Row, Statistics]
    common: CommonMetrics


def read_runs(text: str) -> tuple[BenchmarkRun, ...]:
    """Every run that a console output shows; without MINDIE_LOG_TO_STDOUT it shows none."""
    runs: list[BenchmarkRun] = []
    performance: Mapping[Row, Statistics] = {}
    for table in tables_in(text):
        if table.heading[:1] == ("Metric",):
            performance = _performance(table)
        elif table.heading[:1] == ("Common Metric",) and len(table.heading) == len(("Metric", "Value")):
            values = {row[0]: row[1] for row in table.rows[1:] if len(row) == len(table.heading)}
            runs.append(BenchmarkRun(performance=performance, common=_common(values)))
            performance = {}
    return tuple(runs)


def _performance(table: Table) -> Mapping[Row, Statistics]:
    named = {row[0]: row[1:] for row in table.rows[1:]}
    return {row: _statistics(row, table.heading[1:], named[row.title]) for row in Row if row.title in named}


def _statistics(row: Row, names: Sequence[str], cells: Sequence[str]) -> Statistics:
    of = dict(zip(names, cells, strict=False))
    read = milliseconds_in if row.unit == "ms" else number_in
    return Statistics(
        average=read(of.get("average")),
        maximum=read(of.get("max")),
        minimum=read(of.get("min")),
        p75=read(of.get("P75")),
        p90=read(of.get("P90")),
        slo_p90=read(of.get("SLO_P90")),
        p99=read(of.get("P99")),
        count=whole_in(of.get("N")),
    )


def _common(values: Mapping[str, str]) -> CommonMetrics:
    def number(*names: str) -> float | None:
        return next((number_in(values[name]) for name in names if name in values), None)

    return CommonMetrics(
        current_time=values.get("CurrentTime", ""),
        seconds=_seconds(values.get("TimeElapsed")),
        data_source=values.get("DataSource", ""),
        failed=_count(values.get("Failed")),
        returned=_count(values.get("Returned")),
        total=_count(values.get("Total")),
        concurrency=whole_in(values.get("Concurrency")),
        model_name=values.get("ModelName", ""),
        prompt_ms_per_token=number("lpct"),
        requests_per_second=number("Throughput", "Throughtput"),
        output_tokens_per_second=number("OutputGenerateSpeed", "GenerateSpeed"),
        input_tokens_per_second=number("InputGenerateSpeed"),
        total_tokens_per_second=number("TotalGenerateSpeed"),
        output_tokens_per_second_per_client=number("GenerateSpeedPerClient"),
        accuracy=values.get("accuracy", "/"),
    )


def _seconds(cell: str | None) -> float | None:
    """Without a unit they are seconds."""
    return number_in(cell) if (cell or "").rstrip()[-1:].isdigit() else seconds_in(cell)


def _count(cell: str | None) -> int:
    """The count of `200( 100.0% )` or `200[ 100.0% ]`."""
    found = _COUNT_AND_SHARE.match(cell or "")
    return whole_in(found[1] if found else cell) or 0


def read_performance_csv(text: str) -> Mapping[Row, Statistics]:
    """Read result_perf_*.csv: a column for each metric, rows without labels in a fixed order."""
    rows = [row for row in csv.reader(text.lstrip("\ufeff").splitlines()) if row]
    if not rows:
        return {}
    names = _STATISTICS if len(rows) - 1 == len(_STATISTICS) else _STATISTICS_2024
    columns = dict(zip(rows[0], zip(*rows[1:], strict=False), strict=False))
    return {row: _statistics(row, names, columns[row.title]) for row in Row if row.title in columns}


def read_common_csv(text: str) -> CommonMetrics | None:
    """Read result_common_*.csv: one heading, one row. None when the row is missing."""
    rows = [row for row in csv.reader(text.lstrip("\ufeff").splitlines()) if row]
    if len(rows) < len(("heading", "row")):
        return None
    return _common(dict(zip(rows[0], rows[-1], strict=False)))


def print_tables(run: BenchmarkRun, generation: Generation, *, prefix: str = "") -> str:
    """Both tables as the console shows them; `prefix` is the head of the log line before each."""
    heading = ("Metric", *_names(generation))
    rows = [heading, *((row.title, *cells) for row, cells in _cells(run.performance, generation).items())]
    common = [("Common Metric", "Value"), *_common_cells(run.common, generation).items()]
    lines = (prefix, _PERFORMANCE, draw(rows), prefix, _COMMON, draw(common))
    return "\n".join(line for line in lines if line) + "\n"


def print_performance_csv(performance: Mapping[Row, Statistics], generation: Generation) -> str:
    """The content of result_perf_*.csv."""
    cells = _cells(performance, generation)
    columns = [[row.title, *values] for row, values in cells.items()]
    return "".join(f"{_csv_line(line)}\n" for line in zip(*columns, strict=True))


def print_common_csv(common: CommonMetrics, generation: Generation) -> str:
    """The content of result_common_*.csv."""
    cells = _common_cells(common, generation)
    return f"{_csv_line(tuple(cells))}\n{_csv_line(tuple(cells.values()))}\n"


def _csv_line(cells: Sequence[str]) -> str:
    return ",".join(f'"{cell}"' if "," in cell else cell for cell in cells)


def _names(generation: Generation) -> tuple[str, ...]:
    return _STATISTICS_2024 if generation is Generation.RC2 else _STATISTICS


def _cells(performance: Mapping[Row, Statistics], generation: Generation) -> Mapping[Row, list[str]]:
    return {row: _row_cells(row, performance[row], generation) for row in Row if row in performance}


def _row_cells(row: Row, statistics: Statistics, generation: Generation) -> list[str]:
    values = {
        "average": statistics.average,
        "max": statistics.maximum,
        "min": statistics.minimum,
        "P75": statistics.p75,
        "P90": statistics.p90,
        "SLO_P90": statistics.slo_p90,
        "P99": statistics.p99,
    }
    missing = "-" if generation is Generation.RC2 else "/"
    cells = [_cell(name, values[name], missing, row.unit) for name in _names(generation)[:-1]]
    return [*cells, str(statistics.count or 0)]


def _cell(name: str, value: float | None, missing: str, unit: str) -> str:
    if value is None:
        return _with_unit(missing, unit)
    shown = _number(value)
    is_statistic = name not in {"max", "min"}  # these two are shown as they were counted
    return _with_unit(f"{shown}.0" if is_statistic and shown.isdecimal() and value else shown, unit)


def _with_unit(cell: str, unit: str) -> str:
    return f"{cell} {unit}" if unit else cell


def _number(value: float | None) -> str:
    rounded = round(value or 0.0, 4)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def _common_cells(common: CommonMetrics, generation: Generation) -> dict[str, str]:
    speeds = {"GenerateSpeed": common.output_tokens_per_second}
    if generation is Generation.V2:
        speeds = {
            "OutputGenerateSpeed": common.output_tokens_per_second,
            "InputGenerateSpeed": common.input_tokens_per_second,
            "TotalGenerateSpeed": common.total_tokens_per_second,
        }
    speeds["GenerateSpeedPerClient"] = common.output_tokens_per_second_per_client
    spelling = "Throughtput" if generation is Generation.RC2 else "Throughput"
    return {
        "CurrentTime": common.current_time,
        "TimeElapsed": f"{_number(common.seconds)} s",
        "DataSource": common.data_source,
        "Failed": f"{common.failed}( {_share(common.failed, common.total)}% )",
        "Returned": f"{common.returned}( {_share(common.returned, common.total)}% )",
        "Total": f"{common.total}[ 100.0% ]",
        "Concurrency": str(common.concurrency or 0),
        "ModelName": common.model_name,
        "lpct": f"{_number(common.prompt_ms_per_token)} ms",
        spelling: f"{_number(common.requests_per_second)} req/s",
        **{name: f"{_number(speed)} token/s" for name, speed in speeds.items()},
        "accuracy": common.accuracy,
    }


def _share(count: int, total: int) -> float:
    return round(100.0 * count / total, 2) if total else 0.0
