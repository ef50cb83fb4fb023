"""Reads evalscope perf: the summaries of 0.x (plain, seconds) and 1.x (drawn, milliseconds), and the report.

The report has a row for each concurrency and comes last; a summary before it says more.
"""

import re
from collections.abc import Mapping
from typing import Final

from autotune.load.sources.reading import (
    UNKNOWN,
    UNTOLD,
    BenchmarkReading,
    NothingAnswered,
    UnreadableOutput,
    checked,
)
from autotune.mindie_rules.tables import Table, number_in, tables_in, whole_in
from autotune.model.measurement import Distribution
from autotune.units import MILLISECONDS_PER_SECOND

TOOL: Final = "evalscope perf"
_THREE_COUNTS = re.compile(r"(\d+)\s*/\s*(\d+)\s*/\s*(\d+)")
_CONCURRENCY = ("conc.", "concurrency")
_ALL = 99.0
_UNIT = re.compile(r"\s*\((s|ms)\)\s*$")


def read_console(text: str) -> BenchmarkReading:
    """Read the last summary in a console output. Raises UnreadableOutput when there is none."""
    tables = tables_in(text)
    summaries = [table for table in tables if table.heading in {("Metric", "Value"), ("Key", "Value")}]
    if not summaries:
        return checked(_of_report(tables))
    values = {row[0]: row[1] for row in summaries[-1].rows[1:] if len(row) == len(("name", "value"))}
    percentiles = _percentiles(tables[tables.index(summaries[-1]) + 1 :])
    drawn = any(name in values for name in ("Total / Success / Failed", "Output Throughput (tok/s)"))
    return checked(_new(values, percentiles) if drawn else _old(values, percentiles))


def _of_report(tables: tuple[Table, ...]) -> BenchmarkReading:
    """The last row of the table by concurrency. It has a success rate, and no count of requests."""
    found = next((found for table in reversed(tables) if (found := _last_row(table))), None)
    if found is None:
        raise UnreadableOutput(f"{TOOL}: the output shows no summary table")
    cells = found
    share = number_in(cells.get("success rate"))
    if share is None:
        raise UnreadableOutput(f"{TOOL}: the report tells no success rate, so that failures would be hidden")
    if share < _ALL:
        raise NothingAnswered(f"{TOOL}: only {share:g} % of the requests succeeded")
    return BenchmarkReading(
        tool=TOOL,
        output_tokens_per_second=number_in(cells.get("gen. toks/s")) or 0.0,
        completed=UNTOLD,
        failed=0,
        requests=0,
        requests_per_second=number_in(cells.get("rps")),
        concurrency=whole_in(next(cells[name] for name in _CONCURRENCY if name in cells)),
        ttft_ms=_pair(cells, "ttft"),
        tpot_ms=_pair(cells, "tpot"),
        e2e_ms=_pair(cells, "lat."),
    )


def _last_row(table: Table) -> Mapping[str, str] | None:
    """Its cells by their headings, which a narrow screen breaks into several rows; None for other tables."""
    for place, row in enumerate(table.rows[:-1]):
        if row[:1] and row[0].lower() in _CONCURRENCY:
            columns = zip(*table.rows[: place + 1], strict=False)
            names = (" ".join(filter(None, parts)).lower() for parts in columns)
            return dict(zip(names, table.rows[-1], strict=False))
    return None


def _pair(cells: Mapping[str, str], name: str) -> Distribution:
    """Mean and P99 of a latency in seconds or milliseconds, as its heading says."""
    for unit, scale in (("s", MILLISECONDS_PER_SECOND), ("ms", 1.0)):
        mean, high = number_in(cells.get(f"avg {name}({unit})")), number_in(cells.get(f"p99 {name}({unit})"))
        if mean is not None or high is not None:
            return Distribution(
                mean=None if mean is None else mean * scale, p99=None if high is None else high * scale
            )
    return UNKNOWN


def _new(values: Mapping[str, str], percentiles: Mapping[str, Distribution]) -> BenchmarkReading:
    counts = _THREE_COUNTS.match(values.get("Total / Success / Failed", ""))
    requests, completed, failed = (whole_in(count) or 0 for count in counts.groups()) if counts else (0, 0, 0)
    return BenchmarkReading(
        tool=TOOL,
        output_tokens_per_second=_number(values, "Output Throughput (tok/s)") or 0.0,
        completed=completed,
        failed=failed,
        requests=requests,
        total_tokens_per_second=_number(values, "Total Throughput (tok/s)"),
        requests_per_second=_number(values, "Req Throughput (req/s)"),
        seconds=_number(values, "Test Duration (s)"),
        concurrency=whole_in(values.get("Concurrency")),
        mean_output_tokens=_number(values, "Avg Output Tokens"),
        mean_input_tokens=_number(values, "Avg Input Tokens"),
        ttft_ms=_with_mean(percentiles, "TTFT", _number(values, "TTFT (ms)")),
        tpot_ms=_with_mean(percentiles, "TPOT", _number(values, "TPOT (ms)")),
        event_gap_ms=_with_mean(percentiles, "ITL", _number(values, "ITL (ms)")),
        e2e_ms=_with_mean(percentiles, "Latency", _milliseconds(values, "Avg Latency (s)")),
    )


def _old(values: Mapping[str, str], percentiles: Mapping[str, Distribution]) -> BenchmarkReading:
    first, whole = (
        _milliseconds(values, "Average time to first token (s)"),
        _milliseconds(values, "Average latency (s)"),
    )
    streamed = first is None or first != whole
    return BenchmarkReading(
        tool=TOOL,
        output_tokens_per_second=_first(
            values, "Output token throughput (tok/s)", "Throughput(average tokens/s)"
        ),
        completed=whole_in(values.get("Succeed requests")) or 0,
        failed=whole_in(values.get("Failed requests")) or 0,
        requests=whole_in(values.get("Total requests")) or 0,
        total_tokens_per_second=_number(values, "Total token throughput (tok/s)"),
        requests_per_second=_number(values, "Average QPS") or _number(values, "Request throughput (req/s)"),
        seconds=_number(values, "Time taken for tests (s)"),
        concurrency=whole_in(values.get("Number of concurrency")),
        mean_output_tokens=_number(values, "Average output tokens per request"),
        mean_input_tokens=_number(values, "Average input tokens per request"),
        ttft_ms=_with_mean(percentiles, "TTFT", first) if streamed else UNKNOWN,
        tpot_ms=_old_time_per_token(values, percentiles) if streamed else UNKNOWN,
        event_gap_ms=percentiles.get("ITL", UNKNOWN) if streamed else UNKNOWN,
        e2e_ms=_with_mean(percentiles, "Latency", whole),
        streamed=streamed,
    )


def _old_time_per_token(values: Mapping[str, str], percentiles: Mapping[str, Distribution]) -> Distribution:
    return _with_mean(percentiles, "TPOT", _milliseconds(values, "Average time per output token (s)"))


def _number(values: Mapping[str, str], name: str) -> float | None:
    return number_in(values.get(name))


def _milliseconds(values: Mapping[str, str], name: str) -> float | None:
    seconds = _number(values, name)
    return None if seconds is None else seconds * MILLISECONDS_PER_SECOND


def _first(values: Mapping[str, str], *names: str) -> float:
    return next((value for value in (_number(values, name) for name in names) if value is not None), 0.0)


def _with_mean(percentiles: Mapping[str, Distribution], name: str, mean: float | None) -> Distribution:
    found = percentiles.get(name, UNKNOWN)
    return Distribution(mean=mean, p50=found.p50, p75=found.p75, p90=found.p90, p99=found.p99)


def _percentiles(tables: tuple[Table, ...]) -> Mapping[str, Distribution]:
    """The percentile table by metric, in milliseconds; 0.x has a row for each percentile, 1.x a column."""
    if not tables:
        return {}
    table = tables[0]
    if table.heading[:1] == ("Percentile",):
        table = Table(rows=tuple(zip(*table.rows, strict=False)))
    ranks = table.heading[1:]
    named = ((row[0], dict(zip(ranks, row[1:], strict=False))) for row in table.rows[1:])
    return {
        _UNIT.sub("", name): _distribution(cells, _scale(name)) for name, cells in named if _UNIT.search(name)
    }


def _scale(name: str) -> float:
    unit = _UNIT.search(name)
    return MILLISECONDS_PER_SECOND if unit and unit[1] == "s" else 1.0


def _distribution(cells: Mapping[str, str], scale: float) -> Distribution:
    def at(rank: str) -> float | None:
        value = number_in(cells.get(rank))
        return None if value is None else value * scale

    return Distribution(p50=at("50%"), p75=at("75%"), p90=at("90%"), p99=at("99%"))
