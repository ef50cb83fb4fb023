"""Replies of MindIE's query interfaces, to build and to read: /info, /v2, /v1/status, /v1/config, ...

Business port: GET /v2, /v2/models/{m}/ready, /v2/models/{m}/config, /v2/models/{m}/getSlotCount, /v1/models.
Management port: GET /info, /v1/config, /v1/status, /v2/status, /health, /v2/health/{live,ready},
/metrics-json, /stopService. Metrics port: GET /metrics (see `metrics`).
Source: public source of MindIE-LLM (2.3 and 3.x); what older versions leave out is read as None.
"""

import json
from dataclasses import dataclass
from typing import Final

from autotune.foreign import json_value, real
from autotune.mindie_rules.fields import value_at
from autotune.mindie_rules.json_text import JsonValue, KeyPath

INFO: Final = "/info"
ENGINE: Final = "/v2"
STATUS: Final = "/v1/status"
CONFIG: Final = "/v1/config"
MODELS: Final = "/v1/models"
METRICS_JSON: Final = "/metrics-json"
METRICS: Final = "/metrics"
HEALTH: Final = "/health"
HEALTH_LIVE: Final = "/v2/health/live"
HEALTH_READY: Final = "/v2/health/ready"
STOP_SERVICE: Final = "/stopService"
STOPPED_MESSAGE: Final = "The service has been stopped."
MONITOR_MODE_MESSAGE: Final = "Environment variable MIES_SERVICE_MONITOR_MODE is not set."


@dataclass(frozen=True, kw_only=True, slots=True)
class Info:
    """GET /info of the management port: the TGI info. It carries the live maxBatchSize."""

    max_batch_size: int | None = None
    """Field `max_concurrent_requests`."""
    max_prefill_tokens: int | None = None
    """Field `max_batch_total_tokens`."""
    max_input_token_len: int | None = None
    max_seq_len: int | None = None
    model_name: str | None = None
    model_dtype: str | None = None
    version: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineInfo:
    """GET /v2 of the business port: the engine's version and its prefill limits."""

    name: str | None = None
    version: str | None = None
    max_iter_times: int | None = None
    prefill_policy_type: int | None = None
    decode_policy_type: int | None = None
    max_prefill_batch_size: int | None = None
    max_prefill_tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """GET /v1/status of the management port: requests and KV blocks at this moment."""

    role_status: str | None = None
    current_role: str | None = None
    available_slots: int | None = None
    available_blocks: int | None = None
    waiting: int | None = None
    running: int | None = None
    swapped: int | None = None
    free_npu_blocks: int | None = None
    free_cpu_blocks: int | None = None
    total_npu_blocks: int | None = None
    total_cpu_blocks: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedConfig:
    """GET /v1/config of the management port: what the server was configured with."""

    model_name: str | None = None
    max_seq_len: int | None = None
    npu_mem_size: int | None = None
    cpu_mem_size: int | None = None
    world_size: int | None = None
    max_output_len: int | None = None
    """maxIterTimes."""
    cache_block_size: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SlotCount:
    """GET /v2/models/{m}/getSlotCount: live maxBatchSize as `total_slots`."""

    total_slots: int | None = None
    free_slots: int | None = None
    available_tokens_length: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class JsonMetrics:
    """GET /metrics-json of the management port; needs no environment variable."""

    ttft_ms: float | None = None
    """Moving mean of the last 1000 first tokens."""
    tbt_ms: float | None = None
    waiting: int | None = None
    processing: int | None = None
    remaining_blocks: int | None = None


def build_info(info: Info) -> str:
    """The body of GET /info."""
    return _dump(
        {
            "docker_label": None,
            "max_batch_total_tokens": info.max_prefill_tokens,
            "max_best_of": 1,
            "max_concurrent_requests": info.max_batch_size,
            "max_stop_sequences": None,
            "max_waiting_tokens": None,
            "sha": None,
            "validation_workers": None,
            "version": info.version,
            "waiting_served_ratio": None,
            "models": [
                {
                    "model_device_type": "npu",
                    "model_dtype": info.model_dtype,
                    "model_id": info.model_name,
                    "model_pipeline_tag": "text-generation",
                    "model_sha": None,
                    "max_total_tokens": info.max_seq_len,
                }
            ],
            "max_input_length": info.max_input_token_len,
        }
    )


def read_info(body: str) -> Info | None:
    """Read GET /info; None when the body is no JSON object."""
    reply = _object(body)
    if reply is None:
        return None
    return Info(
        max_batch_size=_whole(reply, "max_concurrent_requests"),
        max_prefill_tokens=_whole(reply, "max_batch_total_tokens"),
        max_input_token_len=_whole(reply, "max_input_length"),
        max_seq_len=_whole(reply, "models", 0, "max_total_tokens"),
        model_name=_text(reply, "models", 0, "model_id"),
        model_dtype=_text(reply, "models", 0, "model_dtype"),
        version=_text(reply, "version"),
    )


def build_engine_info(info: EngineInfo) -> str:
    """The body of GET /v2."""
    return _dump(
        {
            "name": info.name or "MindIE Server",
            "version": info.version,
            "extensions": {
                "max_iter_times": info.max_iter_times,
                "prefill_policy_type": info.prefill_policy_type,
                "decode_policy_type": info.decode_policy_type,
                "max_prefill_batch_size": info.max_prefill_batch_size,
                "max_prefill_tokens": info.max_prefill_tokens,
            },
        }
    )


def read_engine_info(body: str) -> EngineInfo | None:
    """Read GET /v2; None when the body is no JSON object."""
    reply = _object(body)
    if reply is None:
        return None
    return EngineInfo(
        name=_text(reply, "name"),
        version=_text(reply, "version"),
        max_iter_times=_whole(reply, "extensions", "max_iter_times"),
        prefill_policy_type=_whole(reply, "extensions", "prefill_policy_type"),
        decode_policy_type=_whole(reply, "extensions", "decode_policy_type"),
        max_prefill_batch_size=_whole(reply, "extensions", "max_prefill_batch_size"),
        max_prefill_tokens=_whole(reply, "extensions", "max_prefill_tokens"),
    )


def build_status(status: Status) -> str:
    """The body of GET /v1/status."""
    return _dump(
        {
            "service": {
                "roleStatus": status.role_status or "RoleReady",
                "currentRole": status.current_role or "none",
            },
            "resource": {
                "availSlotsNum": status.available_slots,
                "availBlockNum": status.available_blocks,
                "waitingRequestNum": status.waiting,
                "runningRequestNum": status.running,
                "swappedRequestNum": status.swapped,
                "freeNpuBlockNums": status.free_npu_blocks,
                "freeCpuBlockNums": status.free_cpu_blocks,
                "totalNpuBlockNums": status.total_npu_blocks,
                "totalCpuBlockNums": status.total_cpu_blocks,
            },
            "linkStatus": {"peers": []},
        }
    )


def read_status(body: str) -> Status | None:
    """Read GET /v1/status; None when the body is no JSON object."""
    reply = _object(body)
    if reply is None:
        return None
    return Status(
        role_status=_text(reply, "service", "roleStatus"),
        current_role=_text(reply, "service", "currentRole"),
        available_slots=_whole(reply, "resource", "availSlotsNum"),
        available_blocks=_whole(reply, "resource", "availBlockNum"),
        waiting=_whole(reply, "resource", "waitingRequestNum"),
        running=_whole(reply, "resource", "runningRequestNum"),
        swapped=_whole(reply, "resource", "swappedRequestNum"),
        free_npu_blocks=_whole(reply, "resource", "freeNpuBlockNums"),
        free_cpu_blocks=_whole(reply, "resource", "freeCpuBlockNums"),
        total_npu_blocks=_whole(reply, "resource", "totalNpuBlockNums"),
        total_cpu_blocks=_whole(reply, "resource", "totalCpuBlockNums"),
    )


def build_served_config(config: ServedConfig) -> str:
    """The body of GET /v1/config."""
    return _dump(
        {
            "modelName": config.model_name,
            "maxSeqLen": config.max_seq_len,
            "npuMemSize": config.npu_mem_size,
            "cpuMemSize": config.cpu_mem_size,
            "worldSize": config.world_size,
            "maxOutputLen": config.max_output_len,
            "cacheBlockSize": config.cache_block_size,
        }
    )


def read_served_config(body: str) -> ServedConfig | None:
    """Read GET /v1/config; None when the body is no JSON object."""
    reply = _object(body)
    if reply is None:
        return None
    return ServedConfig(
        model_name=_text(reply, "modelName"),
        max_seq_len=_whole(reply, "maxSeqLen"),
        npu_mem_size=_whole(reply, "npuMemSize"),
        cpu_mem_size=_whole(reply, "cpuMemSize"),
        world_size=_whole(reply, "worldSize"),
        max_output_len=_whole(reply, "maxOutputLen"),
        cache_block_size=_whole(reply, "cacheBlockSize"),
    )


def build_slot_count(count: SlotCount) -> str:
    """The body of GET /v2/models/{m}/getSlotCount."""
    return _dump(
        {
            "total_slots": count.total_slots,
            "free_slots": count.free_slots,
            "available_tokens_length": count.available_tokens_length,
        }
    )


def read_slot_count(body: str) -> SlotCount | None:
    """Read GET /v2/models/{m}/getSlotCount; None when the body is no JSON object."""
    reply = _object(body)
    if reply is None:
        return None
    return SlotCount(
        total_slots=_whole(reply, "total_slots"),
        free_slots=_whole(reply, "free_slots"),
        available_tokens_length=_whole(reply, "available_tokens_length"),
    )


def build_json_metrics(metrics: JsonMetrics, *, address: str, port: int, unix_time: float) -> str:
    """The body of GET /metrics-json; `unix_time` in seconds since the epoch."""
    values = (
        ("TTFT", f"{metrics.ttft_ms or 0.0:.6f}"),
        ("TBT", f"{metrics.tbt_ms or 0.0:.6f}"),
        ("waitingInferRequestNum", str(metrics.waiting or 0)),
        ("processingInferRequestNum", str(metrics.processing or 0)),
        ("remainBlocks", str(metrics.remaining_blocks or 0)),
    )
    result: list[JsonValue] = [
        {
            "metric": {"__name__": name, "instance": f"{address}:{port}"},
            "value": [unix_time, value],
        }
        for name, value in values
    ]
    return _dump({"resultType": "vector", "result": result})


def read_json_metrics(body: str) -> JsonMetrics | None:
    """Read GET /metrics-json; None when the body is no JSON object."""
    reply = _object(body)
    if reply is None:
        return None
    found = dict(_samples(reply))
    waiting, processing = found.get("waitingInferRequestNum"), found.get("processingInferRequestNum")
    remaining = found.get("remainBlocks")
    return JsonMetrics(
        ttft_ms=found.get("TTFT"),
        tbt_ms=found.get("TBT"),
        waiting=None if waiting is None else int(waiting),
        processing=None if processing is None else int(processing),
        remaining_blocks=None if remaining is None else int(remaining),
    )


def error_body(message: str, error_type: str) -> str:
    """The body of a refused request."""
    return _dump({"error": message, "error_type": error_type})


def _samples(reply: dict[str, JsonValue]) -> list[tuple[str, float]]:
    results = reply.get("result")
    samples: list[tuple[str, float]] = []
    for result in results if isinstance(results, list) else []:
        name, value = value_at(result, ("metric", "__name__")), value_at(result, ("value", 1))
        number = real(str(value)) if isinstance(value, str | int | float) else None
        if isinstance(name, str) and number is not None:
            samples.append((name, number))
    return samples


def _dump(document: dict[str, JsonValue]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _object(body: str) -> dict[str, JsonValue] | None:
    try:
        document = json_value(body)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _whole(reply: JsonValue, *path: str | int) -> int | None:
    value = value_at(reply, _path(path))
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(reply: JsonValue, *path: str | int) -> str | None:
    value = value_at(reply, _path(path))
    return value if isinstance(value, str) else None


def _path(path: tuple[str | int, ...]) -> KeyPath:
    return path
