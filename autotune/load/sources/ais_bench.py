"""Reads AISBench's performance results: its console tables, and its CSV and JSON files."""

import csv
from collections.abc import Mapping
from typing import Final

from autotune.foreign import json_value
from autotune.load.sources.reading import BenchmarkReading, UnreadableOutput, checked
from autotune.mindie_rules.json_text import JsonValue
from autotune.mindie_rules.tables import number_in, tables_in, whole_in
from autotune.mindie_rules.time_units import milliseconds_in, seconds_in
from autotune.model.measurement import Distribution

TOOL: Final = "ais_bench"
_STAGES: Final = ("stable", "total")
"""The steady part is wanted where the tool reports it; the whole run otherwise."""
_LATENCIES: Final = "Performance Parameters"
_COMMON: Final = "Common Metric"


def read_console(text: str) -> BenchmarkReading:
    """Read the last results in a console output. Raises UnreadableOutput when there are none."""
    latencies: Mapping[str, Mapping[str, str]] = {}
    common: Mapping[str, str] = {}
    for table in tables_in(text):
        if table.heading[:1] == (_LATENCIES,):
            latencies = _by_name(table.rows)
        elif table.heading[:1] == (_COMMON,):
            common = {name: cells.get("Value", "") for name, cells in _by_name(table.rows).items()}
    if not common:
        raise UnreadableOutput(f"{TOOL}: the output shows no Common Metric table")
    return _reading(common, latencies)


def read_files(common: str, latencies: str = "") -> BenchmarkReading:
    """Read `<dataset>.json` and, for the latencies, `<dataset>.csv`. Raises UnreadableOutput."""
    try:
        document: JsonValue = json_value(common.lstrip("\ufeff"))
    except ValueError as error:
        raise UnreadableOutput(f"{TOOL}: the result file is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise UnreadableOutput(f"{TOOL}: the result file holds no object")
    rows = tuple(tuple(row) for row in csv.reader(latencies.lstrip("\ufeff").splitlines()) if row)
    return _reading({name: _of_stage(value) for name, value in document.items()}, _by_name(rows))


def _of_stage(value: JsonValue) -> str:
    """The value of one stage: `{"total": "96.6928 token/s"}`."""
    if not isinstance(value, dict):
        return str(value)
    return str(next((value[stage] for stage in _STAGES if stage in value), ""))


def _by_name(rows: tuple[tuple[str, ...], ...]) -> Mapping[str, Mapping[str, str]]:
    """The rows by their name, each cell by its heading; of several stages the wanted one."""
    if not rows:
        return {}
    heading = rows[0]
    place = next((heading.index(name) for name in (_LATENCIES, _COMMON) if name in heading), 0)
    found: dict[str, Mapping[str, str]] = {}
    for row in rows[1:]:
        if place >= len(row):
            continue
        cells = dict(zip(heading, row, strict=False))
        name, known = row[place], found.get(row[place])
        if known is None or _rank(cells) < _rank(known):
            found[name] = cells
    return found


def _rank(cells: Mapping[str, str]) -> int:
    stage = cells.get("Stage", "")
    return _STAGES.index(stage) if stage in _STAGES else len(_STAGES)


def _reading(common: Mapping[str, str], latencies: Mapping[str, Mapping[str, str]]) -> BenchmarkReading:
    of = {name.lower(): value for name, value in common.items()}
    completed, failed = whole_in(of.get("success requests")) or 0, whole_in(of.get("failed requests")) or 0
    return checked(
        BenchmarkReading(
            tool=TOOL,
            output_tokens_per_second=number_in(of.get("output token throughput")) or 0.0,
            completed=completed,
            failed=failed,
            requests=whole_in(of.get("total requests")) or completed + failed,
            total_tokens_per_second=number_in(of.get("total token throughput")),
            requests_per_second=number_in(of.get("request throughput")),
            seconds=seconds_in(of.get("benchmark duration")),
            concurrency=whole_in(of.get("max concurrency")),
            concurrency_reached=number_in(of.get("concurrency")),
            output_tokens=whole_in(of.get("total generated tokens", of.get("total output tokens"))),
            input_tokens=whole_in(of.get("total input tokens")),
            mean_output_tokens=number_in(latencies.get("OutputTokens", {}).get("Average")),
            mean_input_tokens=number_in(latencies.get("InputTokens", {}).get("Average")),
            ttft_ms=_distribution(latencies, "TTFT"),
            tpot_ms=_distribution(latencies, "TPOT"),
            event_gap_ms=_distribution(latencies, "ITL"),
            e2e_ms=_distribution(latencies, "E2EL"),
        )
    )


def _distribution(latencies: Mapping[str, Mapping[str, str]], name: str) -> Distribution:
    cells = latencies.get(name, {})
    return Distribution(
        mean=milliseconds_in(cells.get("Average")),
        p50=milliseconds_in(cells.get("Median")),
        p75=milliseconds_in(cells.get("P75")),
        p90=milliseconds_in(cells.get("P90")),
        p99=milliseconds_in(cells.get("P99")),
    )
