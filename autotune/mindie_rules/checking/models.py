"""The checks of ModelDeployConfig: types, then values; wrong values go to the log and print nothing here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from autotune.mindie_rules.bounds import TOKENS_HIGH
from autotune.mindie_rules.checking.console import (
    INIT_EXCEPTION,
    Console,
    Thrown,
    as_signed,
    as_unsigned,
    contains,
    dump,
    is_whole,
    json_error,
    member,
    wrong_type,
)
from autotune.mindie_rules.checking.surroundings import Surroundings
from autotune.mindie_rules.checking.types import Kind, check_types, optional, required
from autotune.mindie_rules.json_text import JsonValue, MalformedJson, parse, place_at

_DEPLOY_SPECS: Final = (
    *required(Kind.UINT32, "maxSeqLen", "maxInputTokenLen"),
    *optional(Kind.UINT32, "maxLoras", "maxLoraRank"),
)
_MODEL_SPECS: Final = (
    *required(Kind.UINT32, "cpuMemSize"),
    *required(Kind.STRING, "modelWeightPath", "modelName"),
    *required(Kind.INT32, "npuMemSize"),
    *required(Kind.UINT32, "worldSize"),
    *required(Kind.STRING, "backendType"),
    *optional(Kind.STRING, "modelInstanceType", "pluginParams"),
    *required(Kind.BOOL, "trustRemoteCode"),
)
_INSTANCE_TYPES: Final = ("AssistantModel", "Standard", "StandardMock", "TargetModel")
_BACKENDS: Final = frozenset({"atb", "ms", "torch"})
_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9_.-]{0,254}[a-zA-Z0-9])?")
_LEADING_NUMBER = re.compile(r"\s*[+-]?\d+")
_INT32_HIGH: Final = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """One entry of ModelConfig as the checker has read it."""

    name: str
    weight_path: str
    """Empty when the weights could not be read."""
    world_size: int
    cpu_mem_size: int
    npu_mem_size: int
    backend_type: str
    max_seq_len: int
    max_input_token_len: int


def read_models(
    console: Console, deploy: JsonValue, *, template_type: str, surroundings: Surroundings
) -> tuple[Model, ...] | None:
    """Read ModelDeployConfig; None when it is refused. Raises Thrown."""
    models = member(deploy, "ModelConfig")
    if not check_types(console, deploy, _DEPLOY_SPECS) or not isinstance(models, list):
        return None
    if not all(check_types(console, model, _MODEL_SPECS) for model in models):
        return None
    _read_truncation(console, deploy)
    good = template_type != "Standard" or len(models) == 1
    if not good:
        console.log("There should be one modelParam for Standard templateType.")
    found: list[Model] = []
    for model in models:
        _read_plugins(console, model)
        good = _read_instance_type(console, model) and good
        found.append(_read_model(deploy, model, surroundings))
    return tuple(found) if good else None


def _read_truncation(console: Console, deploy: JsonValue) -> None:
    truncation = member(deploy, "truncation")
    if not isinstance(truncation, bool) and not is_whole(truncation):
        console.notice(f"The value of truncation {dump(truncation)} is invalid, use default value.")


def _read_instance_type(console: Console, model: JsonValue) -> bool:
    kind = member(model, "modelInstanceType")
    if kind is None or kind in _INSTANCE_TYPES:
        return True
    supported = ",".join(_INSTANCE_TYPES)
    return console.refuse(f"Model instance type is invalid. supported values: [{supported}]")


def _read_model(deploy: JsonValue, model: JsonValue, surroundings: Surroundings) -> Model:
    weights = str(member(model, "modelWeightPath"))
    return Model(
        name=str(member(model, "modelName")),
        weight_path=weights if weights and surroundings.weights_usable(weights) else "",
        world_size=as_unsigned(member(model, "worldSize")),
        cpu_mem_size=as_unsigned(member(model, "cpuMemSize")),
        npu_mem_size=as_signed(member(model, "npuMemSize")),
        backend_type=str(member(model, "backendType")),
        max_seq_len=as_unsigned(member(deploy, "maxSeqLen")),
        max_input_token_len=as_unsigned(member(deploy, "maxInputTokenLen")),
    )


def _read_plugins(console: Console, model: JsonValue) -> None:
    """Parallel sizes must be from 1 on; plugin_params is JSON inside of a string. Raises Thrown."""
    for key in ("dp", "sp", "cp"):
        _read_parallel(key, member(model, key))
    plugins = member(model, "plugin_params")
    if not contains(model, "plugin_params"):
        return
    text = plugins if isinstance(plugins, str) else dump(plugins)
    try:
        document = parse(text)
    except MalformedJson as fault:
        console.complain(_parse_error(text, fault))
        return
    if isinstance(document.value, dict) and not text[document.end :].strip():
        _read_speculation(document.value)


def _read_parallel(key: str, value: JsonValue) -> None:
    if not isinstance(value, str | int | float):
        return
    number = _LEADING_NUMBER.match(value if isinstance(value, str) else str(as_signed(value)))
    if number is None or not _is_int32(number.group()):
        raise Thrown("ConfigManager Init exception: stoi")
    if int(number.group()) <= 0:
        raise Thrown(f"{INIT_EXCEPTION}{key} cannot be smaller than 1.")


def _is_int32(text: str) -> bool:
    return len(text.lstrip("\t\n\v\f\r +-0")) <= len(str(_INT32_HIGH)) and abs(int(text)) <= _INT32_HIGH


def _read_speculation(plugins: Mapping[str, JsonValue]) -> None:
    if "plugin_type" not in plugins:
        return
    kind, tokens = plugins["plugin_type"], plugins.get("num_speculative_tokens")
    if not isinstance(kind, str):
        raise Thrown("JSON error in ConfigManager: " + wrong_type("string", kind))
    if "mtp" in kind and "num_speculative_tokens" in plugins:
        as_unsigned(tokens)


def _parse_error(text: str, fault: MalformedJson) -> str:
    """The JSON library's message: exact for a text that begins wrongly, close to it elsewhere."""
    if not text:
        what = (
            "attempting to parse an empty input; "
            "check that an input string or stream contains the expected JSON"
        )
        return "JSON parse error: " + json_error(
            101, "parse_error", f"parse error at line 1, column 1: {what}"
        )
    offset = _mismatch(text, fault.offset)
    where = place_at(text, offset)
    what = f"syntax error while parsing value - invalid literal; last read: '{text[: offset + 1]}'"
    return "JSON parse error: " + json_error(
        101, "parse_error", f"parse error at line {where.line}, column {where.column}: {what}"
    )


def _mismatch(text: str, offset: int) -> int:
    """Where a word stops being true, false or null."""
    word = next((word for word in ("true", "false", "null") if text.startswith(word[0], offset)), "")
    while word and text.startswith(word[0], offset):
        word, offset = word[1:], offset + 1
    return offset


def check_models(console: Console, models: tuple[Model, ...]) -> bool:
    """Check the values; faults go to the log only."""
    results = [_check_model(console, model) for model in models]
    return all(results)


def _check_model(console: Console, model: Model) -> bool:
    results = [
        _NAME.fullmatch(model.name) is not None
        or console.log(
            "The value of modelName must meet the following rules: The string length is [1, 256] and "
            "consists of a match of the type [a-zA-Z0-9_.-]. "
            "The first and last characters must be characters or digits."
        ),
        model.max_seq_len > 0 or console.log("The value of modelParam.maxSeqLen can not be 0."),
        1 <= model.max_input_token_len <= TOKENS_HIGH
        or console.log("The value of modelParam.maxInputTokenLen should be in [1, 4194304]."),
        model.world_size > 0 or console.log("The value of modelParam.worldSize can not be 0."),
        model.backend_type in _BACKENDS or console.log("Backend type only supports atb, ms, torch."),
        model.npu_mem_size > 0
        or model.npu_mem_size == -1
        or console.log(
            "The value of 'npuMemSize' in ModelDeployConfig in config.json is "
            f"{model.npu_mem_size} it should be within (0, 4294967295] or -1"
            "please set 'npuMemSize' in config.json within (0, 4294967295] or -1"
        ),
    ]
    return all(results)
