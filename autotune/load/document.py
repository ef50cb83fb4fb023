"""Document: a reading as the JSON of `autotune load --json`, and as the block that people read."""

from typing import Any

from autotune.load.measuring.reading import Reading
from autotune.model.measurement import Distribution

_LATENCIES = (
    ("time to first token", "ttft_ms"),
    ("gap between events", "event_gap_ms"),
    ("time per output token", "tpot_ms"),
    ("end to end", "e2e_ms"),
)


def document_of(reading: Reading) -> dict[str, Any]:
    """Exactly the keys of the contract; null is unknown, never zero."""
    return {
        "tokens_per_second": _rounded(reading.tokens_per_second, 3),
        "half_width": _rounded(reading.half_width, 6),
        "whole_run_tokens_per_second": _rounded(reading.whole_run_tokens_per_second, 3),
        "requests": reading.requests,
        "completed": reading.completed,
        "failed": {one.cause: one.count for one in reading.failed},
        "short_replies": reading.short_replies,
        "ttft_ms": _distribution(reading.ttft_ms),
        "event_gap_ms": _distribution(reading.event_gap_ms),
        "tpot_ms": _distribution(reading.tpot_ms),
        "e2e_ms": _distribution(reading.e2e_ms),
        "events": reading.events,
        "reads": reading.reads,
        "output_tokens": reading.output_tokens,
        "input_tokens": reading.input_tokens,
        "concurrency_reached": reading.concurrency_reached,
        "client_cpu_seconds": _rounded(reading.health.cpu_seconds, 4),
        "seconds": _rounded(reading.test_seconds, 3),
    }


def block_of(reading: Reading) -> str:
    """One result block of plain text."""
    failed = sum(one.count for one in reading.failed)
    lines = [
        _line("Steady throughput", _speed(reading)),
        _line("Whole run", _tokens(reading.whole_run_tokens_per_second), "ramp and drain included"),
        _line("Requests", f"{reading.completed} of {reading.requests} completed"),
    ]
    if failed:
        lines.append(_line("Failed", ", ".join(f"{one.count} {one.cause}" for one in reading.failed)))
    if reading.short_replies:
        lines.append(_line("Short replies", str(reading.short_replies)))
    lines.append(_line("Tokens", f"{reading.output_tokens} generated, {reading.input_tokens} read"))
    lines.append(_line("Concurrency", f"{reading.concurrency_reached} reached of {reading.concurrency}"))
    lines.append(f"{'Latency (ms)':<24}{'mean':>10}{'p50':>10}{'p75':>10}{'p90':>10}{'p99':>10}")
    lines.extend(_row(name, getattr(reading, field)) for name, field in _LATENCIES)
    lines.append(_line("Client", _client(reading)))
    return "\n".join(lines)


def _speed(reading: Reading) -> str:
    if reading.tokens_per_second is None:
        return "not measurable"
    width = "" if reading.half_width is None else f" +- {100 * reading.half_width:.2f} %"
    return f"{_tokens(reading.tokens_per_second)}{width} over {reading.seconds:.1f} s"


def _client(reading: Reading) -> str:
    per_read = reading.events / reading.reads if reading.reads else 0.0
    cpu = f"{reading.health.cpu_seconds:.2f} CPU s ({reading.health.cpu_share:.0%} of a core)"
    return f"{cpu}, {reading.health.lag_p90 * 1000:.1f} ms late, {per_read:.2f} events a read"


def _tokens(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f} token/s"


def _line(name: str, value: str, note: str = "") -> str:
    return f"{name:<24}{value}{f' ({note})' if note else ''}"


def _row(name: str, distribution: Distribution) -> str:
    values = (distribution.mean, distribution.p50, distribution.p75, distribution.p90, distribution.p99)
    return f"  {name:<22}" + "".join(f"{'-' if value is None else f'{value:.1f}':>10}" for value in values)


def _distribution(distribution: Distribution) -> dict[str, float | None]:
    return {name: _rounded(getattr(distribution, name), 3) for name in ("mean", "p50", "p75", "p90", "p99")}


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
