"""Fields of MindIE's config.json: where each one lies in every layout, found by its keys.

Source: MindIE service parameter documentation, and the vendor's own upgrade map between 1.0.RC2 and
1.0.RC3. `Version` in the file is always "1.0.0" and says nothing.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, unique
from typing import Final

from autotune.errors import Refused
from autotune.mindie_rules.json_text import JsonValue, KeyPath


@unique
class Layout(Enum):
    """The key layouts that exist."""

    GEN1 = "ScheduleParam"
    """1.0.RC1 and 1.0.RC2."""
    GEN2 = "BackendConfig"
    """1.0.RC3 and later."""
    PD = "mindie_server_decode_config"
    """A P/D deployment's user_config.json; the fields are those of its decode half."""


@unique
class Field(Enum):
    """A field by its logical name; the names of Settings are among them."""

    MAX_BATCH_SIZE = "max_batch_size"
    MAX_PREFILL_BATCH_SIZE = "max_prefill_batch_size"
    MAX_PREFILL_TOKENS = "max_prefill_tokens"
    PREFILL_TIME_MS_PER_REQ = "prefill_time_ms_per_req"
    DECODE_TIME_MS_PER_REQ = "decode_time_ms_per_req"
    SUPPORT_SELECT_BATCH = "support_select_batch"
    MAX_QUEUE_DELAY_MICROSECONDS = "max_queue_delay_microseconds"
    PREFILL_POLICY_TYPE = "prefill_policy_type"
    DECODE_POLICY_TYPE = "decode_policy_type"
    MAX_ITER_TIMES = "max_iter_times"
    MAX_PREEMPT_COUNT = "max_preempt_count"
    MAX_N = "max_n"
    MAX_FIRST_TOKEN_WAIT_TIME = "max_first_token_wait_time"  # noqa: S105 - tokens of a model, no secret
    STAGE_SELECT_POLICY = "stage_select_policy"
    DYNAMIC_BATCH_SIZE_ENABLE = "dynamic_batch_size_enable"
    DISTRIBUTED_ENABLE = "distributed_enable"
    DIST_DP_SERVER_ENABLED = "dist_dp_server_enabled"
    LAYERWISE_DISAGGREGATED = "layerwise_disaggregated"
    TEMPLATE_TYPE = "template_type"
    TEMPLATE_NAME = "template_name"
    CACHE_BLOCK_SIZE = "cache_block_size"
    IP_ADDRESS = "ip_address"
    MANAGEMENT_IP_ADDRESS = "management_ip_address"
    PORT = "port"
    MANAGEMENT_PORT = "management_port"
    METRICS_PORT = "metrics_port"
    MAX_LINK_NUM = "max_link_num"
    HTTPS_ENABLED = "https_enabled"
    TLS_CA_PATH = "tls_ca_path"
    TLS_CA_FILE = "tls_ca_file"
    FULL_TEXT_ENABLED = "full_text_enabled"
    INFER_MODE = "infer_mode"
    OPEN_AI_SUPPORT = "open_ai_support"
    TOKEN_TIMEOUT = "token_timeout"  # noqa: S105 - tokens of a model, no secret
    E2E_TIMEOUT = "e2e_timeout"
    INTER_COMM_PORT = "inter_comm_port"
    MODEL_INSTANCE_NUMBER = "model_instance_number"
    TOKENIZER_PROCESS_NUMBER = "tokenizer_process_number"
    NPU_DEVICE_IDS = "npu_device_ids"
    MULTI_NODES_INFER_ENABLED = "multi_nodes_infer_enabled"
    MULTI_NODES_INFER_PORT = "multi_nodes_infer_port"
    MAX_SEQ_LEN = "max_seq_len"
    MAX_INPUT_TOKEN_LEN = "max_input_token_len"  # noqa: S105 - tokens of a model, no secret
    TRUNCATION = "truncation"
    MODEL_INSTANCE_TYPE = "model_instance_type"
    MODEL_NAME = "model_name"
    MODEL_WEIGHT_PATH = "model_weight_path"
    WORLD_SIZE = "world_size"
    CPU_MEM_SIZE = "cpu_mem_size"
    NPU_MEM_SIZE = "npu_mem_size"
    BACKEND_TYPE = "backend_type"
    PLUGIN_PARAMS = "plugin_params"
    DATA_PARALLEL = "dp"
    TENSOR_PARALLEL = "tp"
    LOG_LEVEL = "log_level"


_SCHEDULE: Final[Mapping[Field, str]] = {
    Field.MAX_BATCH_SIZE: "maxBatchSize",
    Field.MAX_PREFILL_BATCH_SIZE: "maxPrefillBatchSize",
    Field.MAX_PREFILL_TOKENS: "maxPrefillTokens",
    Field.PREFILL_TIME_MS_PER_REQ: "prefillTimeMsPerReq",
    Field.DECODE_TIME_MS_PER_REQ: "decodeTimeMsPerReq",
    Field.SUPPORT_SELECT_BATCH: "supportSelectBatch",
    Field.MAX_QUEUE_DELAY_MICROSECONDS: "maxQueueDelayMicroseconds",
    Field.PREFILL_POLICY_TYPE: "prefillPolicyType",
    Field.DECODE_POLICY_TYPE: "decodePolicyType",
    Field.MAX_ITER_TIMES: "maxIterTimes",
    Field.MAX_PREEMPT_COUNT: "maxPreemptCount",
    Field.MAX_N: "maxN",
    Field.MAX_FIRST_TOKEN_WAIT_TIME: "maxFirstTokenWaitTime",
    Field.STAGE_SELECT_POLICY: "stageSelectPolicy",
    Field.DYNAMIC_BATCH_SIZE_ENABLE: "dynamicBatchSizeEnable",
    Field.DISTRIBUTED_ENABLE: "distributedEnable",
}
_SERVER: Final[Mapping[Field, str]] = {
    Field.IP_ADDRESS: "ipAddress",
    Field.MANAGEMENT_IP_ADDRESS: "managementIpAddress",
    Field.PORT: "port",
    Field.MANAGEMENT_PORT: "managementPort",
    Field.METRICS_PORT: "metricsPort",
    Field.MAX_LINK_NUM: "maxLinkNum",
    Field.HTTPS_ENABLED: "httpsEnabled",
    Field.TLS_CA_PATH: "tlsCaPath",
    Field.TLS_CA_FILE: "tlsCaFile",
    Field.FULL_TEXT_ENABLED: "fullTextEnabled",
    Field.INFER_MODE: "inferMode",
    Field.OPEN_AI_SUPPORT: "openAiSupport",
    Field.TOKEN_TIMEOUT: "tokenTimeout",
    Field.E2E_TIMEOUT: "e2eTimeout",
    Field.INTER_COMM_PORT: "interCommPort",
    Field.DIST_DP_SERVER_ENABLED: "distDPServerEnabled",
    Field.LAYERWISE_DISAGGREGATED: "layerwiseDisaggregated",
}
_BACKEND: Final[Mapping[Field, str]] = {
    Field.MODEL_INSTANCE_NUMBER: "modelInstanceNumber",
    Field.TOKENIZER_PROCESS_NUMBER: "tokenizerProcessNumber",
    Field.NPU_DEVICE_IDS: "npuDeviceIds",
    Field.MULTI_NODES_INFER_ENABLED: "multiNodesInferEnabled",
}
_DEPLOY: Final[Mapping[Field, str]] = {
    Field.MAX_SEQ_LEN: "maxSeqLen",
    Field.MAX_INPUT_TOKEN_LEN: "maxInputTokenLen",
    Field.TRUNCATION: "truncation",
}
_MODEL: Final[Mapping[Field, str]] = {
    Field.MODEL_INSTANCE_TYPE: "modelInstanceType",
    Field.MODEL_NAME: "modelName",
    Field.MODEL_WEIGHT_PATH: "modelWeightPath",
    Field.WORLD_SIZE: "worldSize",
    Field.CPU_MEM_SIZE: "cpuMemSize",
    Field.NPU_MEM_SIZE: "npuMemSize",
    Field.BACKEND_TYPE: "backendType",
    Field.DATA_PARALLEL: "dp",
    Field.TENSOR_PARALLEL: "tp",
}


def _below(prefix: KeyPath, keys: Mapping[Field, str]) -> dict[Field, KeyPath]:
    return {field: (*prefix, key) for field, key in keys.items()}


_GEN1: Final[Mapping[Field, KeyPath]] = {
    **_below(("ScheduleParam",), _SCHEDULE),
    **_below(("OtherParam", "ServeParam"), _SERVER),
    **_below(("ModelDeployParam",), {**_BACKEND, **_DEPLOY}),
    **_below(("ModelDeployParam", "ModelParam", 0), _MODEL),
    Field.PLUGIN_PARAMS: ("ModelDeployParam", "ModelParam", 0, "pluginParams"),
    Field.MULTI_NODES_INFER_PORT: ("OtherParam", "ServeParam", "multiNodesInferPort"),
    Field.CACHE_BLOCK_SIZE: ("OtherParam", "ResourceParam", "cacheBlockSize"),
    Field.TEMPLATE_TYPE: ("WorkFlowParam", "TemplateParam", "templateType"),
    Field.TEMPLATE_NAME: ("WorkFlowParam", "TemplateParam", "templateName"),
    Field.LOG_LEVEL: ("OtherParam", "LogParam", "logLevel"),
}
_GEN2: Final[Mapping[Field, KeyPath]] = {
    **_below(("BackendConfig", "ScheduleConfig"), _SCHEDULE),
    **_below(("ServerConfig",), _SERVER),
    **_below(("BackendConfig",), _BACKEND),
    **_below(("BackendConfig", "ModelDeployConfig"), _DEPLOY),
    **_below(("BackendConfig", "ModelDeployConfig", "ModelConfig", 0), _MODEL),
    Field.PLUGIN_PARAMS: ("BackendConfig", "ModelDeployConfig", "ModelConfig", 0, "plugin_params"),
    Field.MULTI_NODES_INFER_PORT: ("BackendConfig", "multiNodesInferPort"),
    Field.CACHE_BLOCK_SIZE: ("BackendConfig", "ScheduleConfig", "cacheBlockSize"),
    Field.TEMPLATE_TYPE: ("BackendConfig", "ScheduleConfig", "templateType"),
    Field.TEMPLATE_NAME: ("BackendConfig", "ScheduleConfig", "templateName"),
    Field.LOG_LEVEL: ("LogConfig", "logLevel"),
}
_ALSO: Final[Mapping[Field, KeyPath]] = {
    # one transitional 1.0.RC3 file keeps the devices where 1.0.RC2 had them
    Field.NPU_DEVICE_IDS: ("BackendConfig", "ModelDeployConfig", "npuDeviceIds"),
    Field.MODEL_INSTANCE_NUMBER: ("BackendConfig", "ModelDeployConfig", "modelInstanceNumber"),
}


CONTAINER_IP: Final = "MIES_CONTAINER_IP"
CONTAINER_MANAGEMENT_IP: Final = "MIES_CONTAINER_MANAGEMENT_IP"
"""Variables that the service takes before ipAddress and managementIpAddress."""


def layout_of(document: JsonValue) -> Layout:
    """The layout of a document, told by its keys.

    Raises Refused for anything that is not a configuration of MindIE.
    """
    if not isinstance(document, dict):
        raise Refused("the configuration is not a JSON object", hint="give the config.json of the service")
    for layout in (Layout.GEN2, Layout.GEN1, Layout.PD):
        if isinstance(document.get(layout.value), dict):
            return layout
    keys = ", ".join(list(document)[:6]) or "none"
    if "motor_engine_decode_config" in document:
        raise Refused("this deployment file starts vLLM, not MindIE", hint="use engine.kind: vllm")
    raise Refused(
        f"not a MindIE configuration: neither BackendConfig nor ScheduleParam at its top (keys: {keys})",
        hint="give the config.json of the service, not an excerpt of it",
    )


def path_of(field: Field, layout: Layout) -> KeyPath:
    """Where the layout keeps the field."""
    match layout:
        case Layout.GEN1:
            return _GEN1[field]
        case Layout.GEN2:
            return _GEN2[field]
        case Layout.PD:
            return (layout.value, *_GEN2[field])


def dotted(path: KeyPath) -> str:
    """The path as people write it: `BackendConfig.ScheduleConfig.maxBatchSize`."""
    return ".".join(str(step) for step in path)


def has(document: JsonValue, path: KeyPath) -> bool:
    """Whether the path leads to a value, null included."""
    if not path:
        return True
    parent, step = value_at(document, path[:-1]), path[-1]
    if isinstance(step, str):
        return isinstance(parent, dict) and step in parent
    return isinstance(parent, list) and step < len(parent)


def value_at(document: JsonValue, path: KeyPath) -> JsonValue:
    """The value that the path leads to; None where there is none."""
    node = document
    for step in path:
        if isinstance(step, str) and isinstance(node, dict):
            node = node.get(step)
        elif isinstance(step, int) and isinstance(node, list) and step < len(node):
            node = node[step]
        else:
            return None
    return node


def place_of(document: JsonValue, field: Field) -> KeyPath | None:
    """Where this document holds the field; None when it does not.

    Raises Refused for anything that is not a configuration of MindIE.
    """
    path = path_of(field, layout_of(document))
    if has(document, path):
        return path
    other = _ALSO.get(field)
    return other if other is not None and has(document, other) else None


def read(document: JsonValue, field: Field) -> JsonValue:
    """The field's value as the document has it; None when it is absent or null."""
    path = place_of(document, field)
    return None if path is None else value_at(document, path)


def read_int(document: JsonValue, field: Field) -> int | None:
    """The field when it is a whole number (a bool is none), else None."""
    value = read(document, field)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_text(document: JsonValue, field: Field) -> str | None:
    """The field when it is a string, else None."""
    value = read(document, field)
    return value if isinstance(value, str) else None


def read_bool(document: JsonValue, field: Field) -> bool | None:
    """The field when it is true or false, else None."""
    value = read(document, field)
    return value if isinstance(value, bool) else None


def devices(document: JsonValue) -> tuple[tuple[int, ...], ...]:
    """The device numbers of npuDeviceIds, one group an instance; what is no number is left out."""
    groups = read(document, Field.NPU_DEVICE_IDS)
    if not isinstance(groups, list):
        return ()
    return tuple(_numbers(group) for group in groups if isinstance(group, list))


def _numbers(values: Sequence[JsonValue]) -> tuple[int, ...]:
    return tuple(value for value in values if isinstance(value, int) and not isinstance(value, bool))
