"""Reads the `Serving Benchmark Result` of vllm bench serve and sglang bench_serving, and vLLM's JSON."""

import re
from collections.abc import Mapping
from typing import Final

from autotune.foreign import json_value, real
from autotune.load.sources.reading import BenchmarkReading, UnreadableOutput, checked
from autotune.mindie_rules.fields import value_at
from autotune.mindie_rules.json_text import JsonValue
from autotune.mindie_rules.tables import number_in, whole_in, without_colours
from autotune.model.measurement import Distribution
from autotune.units import MILLISECONDS_PER_SECOND

VLLM: Final = "vllm bench serve"
SGLANG: Final = "sglang bench_serving"
_HEADING = re.compile(r"=+ Serving Benchmark Result =+")
_LINE = re.compile(r"^\s*([A-Za-z][^:]*?)\s*:\s+(\S.*?)\s*$")


def read_console(text: str) -> BenchmarkReading:
    """Read the last result in a console output. Raises UnreadableOutput when there is none."""
    parts = _HEADING.split(without_colours(text))
    if len(parts) == 1:
        raise UnreadableOutput(f"{VLLM}: the output shows no Serving Benchmark Result")
    values = _values(parts[-1])
    tool = SGLANG if "backend" in values or "traffic request rate" in values else VLLM
    completed, failed = _count(values, "successful requests"), _count(values, "failed requests")
    duration = _number(values, "benchmark duration (s)")
    return checked(
        BenchmarkReading(
            tool=tool,
            output_tokens_per_second=_number(values, "output token throughput (tok/s)") or 0.0,
            completed=completed,
            failed=failed,
            requests=completed + failed,
            total_tokens_per_second=_number(values, "total token throughput (tok/s)"),
            requests_per_second=_number(values, "request throughput (req/s)"),
            seconds=duration,
            concurrency=_limit(values),
            concurrency_reached=_number(values, "concurrency"),
            output_tokens=whole_in(_any(values, "total generated tokens", "total output tokens")),
            input_tokens=whole_in(values.get("total input tokens")),
            ttft_ms=_distribution(values, "ttft"),
            tpot_ms=_distribution(values, "tpot", "ptot"),
            event_gap_ms=_distribution(values, "itl"),
            e2e_ms=_distribution(values, "e2e latency", "e2el"),
        )
    )


def _values(text: str) -> Mapping[str, str]:
    """The `label: value` lines up to the closing rule, labels in small letters."""
    body = re.split(r"^={20,}\s*$", text, maxsplit=1, flags=re.MULTILINE)[0]
    found = (_LINE.match(line) for line in body.splitlines())
    return {line[1].lower(): line[2] for line in found if line}


def _number(values: Mapping[str, str], name: str) -> float | None:
    return number_in(values.get(name))


def _any(values: Mapping[str, str], *names: str) -> str | None:
    return next((values[name] for name in names if name in values), None)


def _count(values: Mapping[str, str], name: str) -> int:
    return whole_in(values.get(name)) or 0


def _limit(values: Mapping[str, str]) -> int | None:
    return whole_in(values.get("maximum request concurrency") or values.get("max request concurrency"))


def _latency(values: Mapping[str, str], name: str) -> float | None:
    """In milliseconds, whichever unit the label has."""
    seconds = _number(values, f"{name} (s)")
    return _number(values, f"{name} (ms)") if seconds is None else MILLISECONDS_PER_SECOND * seconds


def _distribution(values: Mapping[str, str], *names: str) -> Distribution:
    def of(statistic: str) -> float | None:
        found = (_latency(values, f"{statistic} {name}") for name in names)
        return next((value for value in found if value is not None), None)

    middle = of("median")
    return Distribution(
        mean=of("mean"),
        p50=of("p50") if middle is None else middle,
        p75=of("p75"),
        p90=of("p90"),
        p99=of("p99"),
    )


def read_json(text: str) -> BenchmarkReading:
    """Read the file of `vllm bench serve --save-result`. Raises UnreadableOutput."""
    try:
        result: JsonValue = json_value(text.lstrip("\ufeff"))
    except ValueError as error:
        raise UnreadableOutput(f"{VLLM}: the result file is no JSON: {error}") from error

    def number(name: str) -> float | None:
        value = value_at(result, (name,))
        return real(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def latency(name: str) -> Distribution:
        return Distribution(
            mean=number(f"mean_{name}_ms"),
            p50=number(f"median_{name}_ms"),
            p75=number(f"p75_{name}_ms"),
            p90=number(f"p90_{name}_ms"),
            p99=number(f"p99_{name}_ms"),
        )

    completed, sent = round(number("completed") or 0), number("num_prompts")
    failed = round(number("failed") or 0) if sent is None else max(0, round(sent) - completed)
    limit, generated, prompts = (
        number("max_concurrency"),
        number("total_output_tokens"),
        number("total_input_tokens"),
    )
    return checked(
        BenchmarkReading(
            tool=VLLM,
            output_tokens_per_second=number("output_throughput") or 0.0,
            completed=completed,
            failed=failed,
            requests=completed + failed,
            total_tokens_per_second=number("total_token_throughput"),
            requests_per_second=number("request_throughput"),
            seconds=number("duration"),
            concurrency=None if limit is None else round(limit),
            output_tokens=None if generated is None else round(generated),
            input_tokens=None if prompts is None else round(prompts),
            ttft_ms=latency("ttft"),
            tpot_ms=latency("tpot"),
            event_gap_ms=latency("itl"),
            e2e_ms=latency("e2el"),
        )
    )
