"""Replies: MindIE's query interfaces and the metrics of both engines."""

from math import isfinite

from autotune.engines.vllm import metrics as vllm_metrics
from autotune.mindie_rules import interfaces
from autotune.mindie_rules.metrics import MetricsReading, read_metrics
from tests.fuzz.target import Target, printed, words_of

READERS = (
    interfaces.read_info,
    interfaces.read_engine_info,
    interfaces.read_status,
    interfaces.read_served_config,
    interfaces.read_slot_count,
    interfaces.read_json_metrics,
)
WORDS = words_of("replies")
METRICS = (
    'vllm:num_requests_running{engine="0",model_name="m"} 8.0\nvllm:num_requests_waiting{engine="0"} 48.0\n'
    'vllm:kv_cache_usage_perc{engine="0"} 0.25\nvllm:num_preemptions_total{engine="0"} 302.0\n'
    'vllm:generation_tokens_total{engine="0"} 1.5e+03\n'
    'vllm:cache_config_info{block_size="32",num_gpu_blocks="257",kv_cache_size_tokens="8224"} 1.0\n'
)


def read_query(data: bytes) -> None:
    """A value of the right kind or None, whatever was answered."""
    body = printed(data)
    for read in READERS:
        found = read(body)
        for name in found.__dataclass_fields__ if found else ():
            value = getattr(found, name)
            assert value is None or isinstance(value, str | int | float | tuple)


def _whole_counts(reading: MetricsReading | vllm_metrics.Reading) -> None:
    for name in reading.__dataclass_fields__:
        value = getattr(reading, name)
        assert not isinstance(value, float) or isfinite(value), name


def read_prometheus(data: bytes) -> None:
    """Finite numbers or None."""
    body = printed(data)
    _whole_counts(read_metrics(body))
    found = vllm_metrics.read_metrics(body)
    _whole_counts(found)
    for blocks in (None, 0, 257):
        found.counters(blocks)


def _query_seeds() -> tuple[bytes, ...]:
    built = (
        interfaces.build_info(interfaces.Info(model_name="m", version="3.0")),
        interfaces.build_engine_info(interfaces.EngineInfo(name="MindIE Server", version="3.0")),
        interfaces.build_status(interfaces.Status()),
        interfaces.build_served_config(interfaces.ServedConfig()),
        interfaces.build_slot_count(interfaces.SlotCount()),
        interfaces.build_json_metrics(
            interfaces.JsonMetrics(), address="127.0.0.1", port=1025, unix_time=1.0
        ),
    )
    return tuple(text.encode() for text in built)


INTERFACES = Target(
    name="query interfaces",
    law="a value of its kind or None",
    check=read_query,
    seeds=_query_seeds,
    words=WORDS,
)
PROMETHEUS = Target(
    name="metrics of both engines",
    law="finite numbers or None",
    check=read_prometheus,
    seeds=lambda: (METRICS.encode(), METRICS.replace("vllm:", "").encode()),
    words=WORDS,
)
