"""MindIE's Prometheus metrics (GET /metrics of the metrics port): names, buckets, to build and to read.

Served only with MIES_SERVICE_MONITOR_MODE=1. Source: public source of MindIE-LLM (2.3 and 3.x).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, unique
from typing import Final


@unique
class Kind(Enum):
    """The kinds of metrics."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@unique
class Metric(Enum):
    """Every metric by its name, in the order of the reply."""

    REQUEST_RECEIVED = "request_received_total"
    REQUEST_SUCCESS = "request_success_total"
    REQUEST_FAILED = "request_failed_total"
    RUNNING = "num_requests_running"
    WAITING = "num_requests_waiting"
    SWAPPED = "num_requests_swapped"
    PROMPT_THROUGHPUT = "avg_prompt_throughput_toks_per_s"
    GENERATION_THROUGHPUT = "avg_generation_throughput_toks_per_s"
    TTFT = "time_to_first_token_seconds"
    TBT = "time_per_output_token_seconds"
    E2E = "e2e_request_latency_seconds"
    FAILED_SHARE = "failed_request_perc"
    PROMPT_TOKENS = "request_prompt_tokens"
    GENERATION_TOKENS = "request_generation_tokens"
    PROMPT_TOKENS_TOTAL = "prompt_tokens_total"
    GENERATION_TOKENS_TOTAL = "generation_tokens_total"
    NPU_CACHE_USAGE = "npu_cache_usage_perc"
    CPU_CACHE_USAGE = "cpu_cache_usage_perc"
    PREFIX_CACHE_HIT_RATE = "npu_prefix_cache_hit_rate"
    PREEMPTIONS = "num_preemptions_total"


_HELP: Final[Mapping[Metric, str]] = {
    Metric.REQUEST_RECEIVED: "Count of received requests.",
    Metric.REQUEST_SUCCESS: "Count of successfully processed requests.",
    Metric.REQUEST_FAILED: "Count of failed requests.",
    Metric.RUNNING: "Number of requests currently running on NPU.",
    Metric.WAITING: "Number of requests waiting to be processed.",
    Metric.SWAPPED: "Number of requests swapped to CPU.",
    Metric.PROMPT_THROUGHPUT: "Average prefill throughput in tokens/s.",
    Metric.GENERATION_THROUGHPUT: "Average generation throughput in tokens/s.",
    Metric.TTFT: "Histogram of time to first token in seconds.",
    Metric.TBT: "Histogram of time per output token in seconds.",
    Metric.E2E: "Histogram of end to end request latency in seconds.",
    Metric.FAILED_SHARE: "Requests failure rate. 1 means 100 percent usage.",
    Metric.PROMPT_TOKENS: "Number of prefill tokens processed.",
    Metric.GENERATION_TOKENS: "Number of generation tokens processed.",
    Metric.PROMPT_TOKENS_TOTAL: "Number of prefill tokens processed.",
    Metric.GENERATION_TOKENS_TOTAL: "Number of generation tokens processed.",
    Metric.NPU_CACHE_USAGE: "NPU KV-cache usage. 1 means 100 percent usage.",
    Metric.CPU_CACHE_USAGE: "CPU KV-cache usage. 1 means 100 percent usage.",
    Metric.PREFIX_CACHE_HIT_RATE: "NPU prefix cache block hit rate.",
    Metric.PREEMPTIONS: "Cumulative number of preemption from the engine.",
}
_TOKENS: Final = (
    10.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0, 16000.0, 20000.0, 32000.0,
    50000.0, 64000.0, 128000.0,
)  # fmt: skip
BUCKETS: Final[Mapping[Metric, tuple[float, ...]]] = {
    Metric.TTFT: (
        0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    ),
    Metric.TBT: (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5),
    Metric.E2E: (1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    Metric.PROMPT_TOKENS: _TOKENS,
    Metric.GENERATION_TOKENS: _TOKENS,
}  # fmt: skip
"""Upper bounds of each histogram's buckets; seconds, or tokens."""


def kind_of(metric: Metric) -> Kind:
    """Counter, gauge or histogram."""
    if metric in BUCKETS:
        return Kind.HISTOGRAM
    return Kind.COUNTER if metric.value.endswith("_total") else Kind.GAUGE


@dataclass(frozen=True, kw_only=True, slots=True)
class Histogram:
    """What a histogram has seen: how many values in each bucket (not summed up), and their sum."""

    counts: tuple[int, ...]
    """One for each bound of BUCKETS, and the last for what is above all of them."""
    total: float

    @property
    def count(self) -> int:
        """How many values."""
        return sum(self.counts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A metric and its value."""

    metric: Metric
    value: float | Histogram


def build_metrics(samples: Iterable[Sample], *, model_name: str) -> str:
    """The body of GET /metrics in Prometheus' text format."""
    blocks = (_block(sample, model_name) for sample in samples)
    return "".join(f"{line}\n" for block in blocks for line in block)


def _block(sample: Sample, model_name: str) -> list[str]:
    name = sample.metric.value
    label = f'model_name="{_escaped(model_name)}"'
    lines = [f"# HELP {name} {_HELP[sample.metric]}", f"# TYPE {name} {kind_of(sample.metric).value}"]
    if isinstance(sample.value, Histogram):
        return [*lines, *_histogram(name, label, BUCKETS[sample.metric], sample.value)]
    return [*lines, f"{name}{{{label}}} {_number(sample.value)}"]


def _histogram(name: str, label: str, bounds: Sequence[float], histogram: Histogram) -> list[str]:
    lines = [
        f"{name}_count{{{label}}} {histogram.count}",
        f"{name}_sum{{{label}}} {_number(histogram.total)}",
    ]
    so_far = 0
    for bound, count in zip((*map(_number, bounds), "+Inf"), histogram.counts, strict=True):
        so_far += count
        lines.append(f'{name}_bucket{{{label},le="{bound}"}} {so_far}')
    return lines


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsReading:
    """What a controller reads from GET /metrics; None where this version does not say."""

    running: int | None = None
    waiting: int | None = None
    swapped: int | None = None
    preemptions: int | None = None
    received: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    generation_tokens: int | None = None
    prompt_tokens: int | None = None
    npu_cache_usage: float | None = None
    """Fraction."""
    prefix_cache_hit_rate: float | None = None
    """Fraction."""


_LINE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{.*\})?\s+(\S+)")


def read_metrics(body: str) -> MetricsReading:
    """Read GET /metrics, summed over models; lines of other metrics are passed over."""
    totals: dict[str, float] = {}
    for line in body.splitlines():
        found = _LINE.match(line)
        value = _float(found[2]) if found else None
        if found and value is not None:
            totals[found[1]] = totals.get(found[1], 0.0) + value
    return MetricsReading(
        running=_whole(totals, Metric.RUNNING),
        waiting=_whole(totals, Metric.WAITING),
        swapped=_whole(totals, Metric.SWAPPED),
        preemptions=_whole(totals, Metric.PREEMPTIONS),
        received=_whole(totals, Metric.REQUEST_RECEIVED),
        succeeded=_whole(totals, Metric.REQUEST_SUCCESS),
        failed=_whole(totals, Metric.REQUEST_FAILED),
        generation_tokens=_whole(totals, Metric.GENERATION_TOKENS_TOTAL),
        prompt_tokens=_whole(totals, Metric.PROMPT_TOKENS_TOTAL),
        npu_cache_usage=_finite(totals, Metric.NPU_CACHE_USAGE),
        prefix_cache_hit_rate=_finite(totals, Metric.PREFIX_CACHE_HIT_RATE),
    )


def _whole(totals: Mapping[str, float], metric: Metric) -> int | None:
    value = _finite(totals, metric)
    return None if value is None else round(value)


def _finite(totals: Mapping[str, float], metric: Metric) -> float | None:
    value = totals.get(metric.value)
    return None if value is None or abs(value) == float("inf") else value


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
