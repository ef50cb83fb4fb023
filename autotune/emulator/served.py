"""Served: the values of config.json that the emulated service works with, from any layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from autotune.mindie_rules import fields as config_fields
from autotune.mindie_rules.bounds import parse_version
from autotune.mindie_rules.fields import CONTAINER_IP, CONTAINER_MANAGEMENT_IP, Field, Layout, layout_of
from autotune.mindie_rules.json_text import JsonValue
from autotune.simulator.rules import MindieRules

_NOTHING: Final[Mapping[str, str]] = {}
_BLOCKS_PER_CPU_GIB = 128
"""A block of the worked LLaMA3-8B example takes 8 MiB."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Where one of the service's planes listens."""

    host: str
    port: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """What the service was configured to be."""

    layout: Layout
    business: Address
    management: Address
    metrics: Address
    https: bool
    full_text: bool
    max_link_num: int
    token_timeout: float
    """Seconds without a token after which a request ends."""
    e2e_timeout: float
    """Seconds after which a request ends."""
    model_name: str
    model_path: str
    instance_type: str
    backend_type: str
    world_size: int
    npu_mem_size: int
    cpu_mem_size: int
    tokenizers: int
    max_input_token_len: int
    truncation: int
    prefill_policy_type: int
    decode_policy_type: int
    rules: MindieRules
    """The scheduler's part, with the blocks of this start."""


def _number(document: JsonValue, field: Field, default: int) -> int:
    value = config_fields.read_int(document, field)
    return default if value is None else value


def _text(document: JsonValue, field: Field, default: str) -> str:
    return config_fields.read_text(document, field) or default


def read_served(
    document: JsonValue, *, version: str, blocks: int, environment: Mapping[str, str] = _NOTHING
) -> Served:
    """The values of a configuration that passed the checks; absent ones have the version's defaults.

    `blocks` are those that the scheduler may give out; the addresses of `environment` come first.
    """
    max_seq_len = _number(document, Field.MAX_SEQ_LEN, 2560)
    asked_input = _number(document, Field.MAX_INPUT_TOKEN_LEN, 2048)
    port = _number(document, Field.PORT, 1025)
    one_plane = layout_of(document) is Layout.GEN1  # 1.0.RC1; RC2 names both
    management_port = _number(document, Field.MANAGEMENT_PORT, port if one_plane else 1026)
    business_host = environment.get(CONTAINER_IP) or _text(document, Field.IP_ADDRESS, "127.0.0.1")
    named_host = _text(document, Field.MANAGEMENT_IP_ADDRESS, business_host)
    management_host = environment.get(CONTAINER_MANAGEMENT_IP) or named_host
    metrics_port = _number(document, Field.METRICS_PORT, management_port)
    return Served(
        layout=layout_of(document),
        business=Address(host=business_host, port=port),
        management=Address(host=management_host, port=management_port),
        metrics=Address(host=management_host, port=metrics_port),
        https=bool(config_fields.read_bool(document, Field.HTTPS_ENABLED)),
        full_text=bool(config_fields.read_bool(document, Field.FULL_TEXT_ENABLED)),
        max_link_num=_number(document, Field.MAX_LINK_NUM, 1000),
        token_timeout=float(_number(document, Field.TOKEN_TIMEOUT, 600)),
        e2e_timeout=float(_number(document, Field.E2E_TIMEOUT, 600)),
        model_name=_text(document, Field.MODEL_NAME, "model"),
        model_path=_text(document, Field.MODEL_WEIGHT_PATH, ""),
        instance_type=_text(document, Field.MODEL_INSTANCE_TYPE, "Standard"),
        backend_type=_text(document, Field.BACKEND_TYPE, "atb"),
        world_size=_number(document, Field.WORLD_SIZE, 1),
        npu_mem_size=_number(document, Field.NPU_MEM_SIZE, -1),
        cpu_mem_size=_number(document, Field.CPU_MEM_SIZE, 0),
        tokenizers=_number(document, Field.TOKENIZER_PROCESS_NUMBER, 8),
        max_input_token_len=min(asked_input, max_seq_len - 1),
        truncation=int(config_fields.read(document, Field.TRUNCATION) or 0),  # type: ignore[arg-type] # checked
        prefill_policy_type=_number(document, Field.PREFILL_POLICY_TYPE, 0),
        decode_policy_type=_number(document, Field.DECODE_POLICY_TYPE, 0),
        rules=_rules(document, version=version, blocks=blocks, max_seq_len=max_seq_len),
    )


def _rules(document: JsonValue, *, version: str, blocks: int, max_seq_len: int) -> MindieRules:
    known = parse_version(version)
    new = known is not None and known.major >= 3  # noqa: PLR2004 - 3.x
    old = known is not None and (known.major, known.minor) < (2, 1)
    cpu_mem_size = _number(document, Field.CPU_MEM_SIZE, 0)
    stage = _number(document, Field.STAGE_SELECT_POLICY, 0)
    return MindieRules(
        blocks=blocks,
        max_batch_size=_number(document, Field.MAX_BATCH_SIZE, 200),
        max_prefill_batch_size=_number(document, Field.MAX_PREFILL_BATCH_SIZE, 50),
        max_prefill_tokens=_number(document, Field.MAX_PREFILL_TOKENS, 8192),
        max_seq_len=max_seq_len,
        max_iter_times=_number(document, Field.MAX_ITER_TIMES, 512),
        cache_block_size=_number(document, Field.CACHE_BLOCK_SIZE, 128),
        cpu_blocks=cpu_mem_size * _BLOCKS_PER_CPU_GIB,
        max_preempt_count=_number(document, Field.MAX_PREEMPT_COUNT, 0) if cpu_mem_size > 0 else 0,
        support_select_batch=bool(config_fields.read_bool(document, Field.SUPPORT_SELECT_BATCH))
        or stage == 1,
        prefill_time_ms_per_req=_number(document, Field.PREFILL_TIME_MS_PER_REQ, 150),
        decode_time_ms_per_req=_number(document, Field.DECODE_TIME_MS_PER_REQ, 50),
        max_queue_delay_microseconds=_number(document, Field.MAX_QUEUE_DELAY_MICROSECONDS, 5000),
        max_first_token_wait_ms=_number(document, Field.MAX_FIRST_TOKEN_WAIT_TIME, 2500),
        larger_prefill_budget=new,
        recompute_threshold=0.5 if old else None,
    )
