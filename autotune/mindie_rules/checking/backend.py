"""The checks of BackendConfig: types, devices against instances and worldSize, then values."""

import re
from dataclasses import dataclass
from typing import Final

from autotune.mindie_rules.checking.console import (
    Console,
    Thrown,
    as_bool,
    as_signed,
    as_text,
    as_unsigned,
    contains,
    elements,
    item,
    length,
    member,
    wrong_type,
)
from autotune.mindie_rules.checking.types import (
    Kind,
    check_sizes,
    check_strings,
    check_types,
    optional,
    required,
)
from autotune.mindie_rules.json_text import JsonValue

_SPECS: Final = (
    *required(Kind.STRING, "backendName"),
    *required(Kind.UINT32, "tokenizerProcessNumber"),
    *optional(Kind.BOOL, "multiNodesInferEnabled"),
    *optional(Kind.INT32, "multiNodesInferPort"),
    *optional(Kind.BOOL, "interNodeTLSEnabled"),
    *optional(Kind.STRING, "interNodeTlsCaPath", "interNodeTlsCert", "interNodeTlsPk"),
    *required(Kind.UINT32, "modelInstanceNumber"),
    *required(Kind.ARRAY, "npuDeviceIds"),
    *required(Kind.OBJECT, "ScheduleConfig"),
    *optional(Kind.ARRAY, "interNodeTlsCaFiles", "interNodeTlsCrlFiles"),
    *optional(Kind.STRING, "interNodeTlsCrlPath"),
    *optional(Kind.OBJECT, "kvPoolConfig", "layerwiseDisaggregated"),
)
_NAME = re.compile(r"[a-z]+(?:_[a-z]+)*")
_LONGEST_NAME: Final = 50
_LONGEST_PATH: Final = 500
_MOST_FILES: Final = 3
_POOLS: Final = frozenset({"", "unifiedcache", "mooncake", "memcache"})
_PORT_UNSET: Final = 1120


@dataclass(frozen=True, kw_only=True, slots=True)
class Backend:
    """BackendConfig as the checker has read it."""

    name: str
    instances: int
    tokenizers: int
    world_size: int
    devices: tuple[frozenset[int], ...]
    several_nodes: bool
    inter_node_port: int
    pool: str
    pool_path: str


def read_backend(console: Console, section: JsonValue) -> Backend | None:
    """Read BackendConfig; None when it is refused. Raises Thrown."""
    if not check_types(console, section, _SPECS):
        return None
    groups = elements(member(section, "npuDeviceIds"))
    if not all(check_sizes(console, group) for group in groups):
        return None
    if len(groups) != member(section, "modelInstanceNumber"):
        console.say("The size of npuDeviceIds does not equal to modelInstanceNumber")
        return None
    model = item(member(member(section, "ModelDeployConfig"), "ModelConfig"), 0)
    if not all(_same_number(length(group), member(model, "worldSize")) for group in groups):
        console.say("The size of npuDeviceIds (subset) does not equal to worldSize")
        return None
    return _read_rest(console, section, groups, as_unsigned(member(model, "worldSize")))


def _same_number(count: int, value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and count == value


def _read_rest(
    console: Console, section: JsonValue, groups: list[JsonValue], world_size: int
) -> Backend | None:
    several_nodes = as_bool(member(section, "multiNodesInferEnabled"))
    encrypted = as_bool(member(section, "interNodeTLSEnabled"))
    port = member(section, "multiNodesInferPort")
    pool = member(section, "kvPoolConfig")
    pool_name = as_text(member(pool, "backend")) if contains(pool, "backend") else ""
    pool_path = as_text(member(pool, "configPath")) if contains(pool, "configPath") else ""
    if contains(pool, "asyncWrite"):
        as_bool(member(pool, "asyncWrite"))
    if encrypted and not _read_inter_node(console, section):
        return None
    return Backend(
        name=as_text(member(section, "backendName")),
        instances=as_unsigned(member(section, "modelInstanceNumber")),
        tokenizers=as_unsigned(member(section, "tokenizerProcessNumber")),
        world_size=world_size,
        devices=tuple(frozenset(as_unsigned(number, 64) for number in elements(group)) for group in groups),
        several_nodes=several_nodes,
        inter_node_port=_PORT_UNSET if port is None else as_signed(port),
        pool=pool_name,
        pool_path=pool_path,
    )


def _read_inter_node(console: Console, section: JsonValue) -> bool:
    for key in ("interNodeTlsCert", "interNodeTlsPk", "interNodeTlsCaPath", "interNodeTlsCrlPath"):
        value = member(section, key)
        if not isinstance(value, str):
            what = wrong_type("string", value)
            return console.refuse(f"Failed to init tls cfg. [BackendConfigManager::InitFromJson] {what}")
    if _inter_node_files(console, section, "interNodeTlsCaFiles", least=1) and _inter_node_files(
        console, section, "interNodeTlsCrlFiles", least=0
    ):
        return True
    return console.refuse("Failed to init tls cfg")


def _inter_node_files(console: Console, section: JsonValue, key: str, *, least: int) -> bool:
    files = member(section, key)
    if not check_strings(console, files):
        return console.refuse(f"{key} init error")
    return least <= len(elements(files)) <= _MOST_FILES or console.refuse(f"{key} size is invalid")


def check_backend(console: Console, backend: Backend) -> bool:
    """Check the values; every fault is printed."""
    results = [
        _check_name(console, backend.name),
        console.bounds("backendConfig.modelInstanceNumber", backend.instances, 1, 10),
        console.bounds("backendConfig.tokenizerProcessNumber", backend.tokenizers, 1, 32),
        console.bounds("backendConfig.multiNodesInferPort", backend.inter_node_port, 1024, 65535),
        *[
            backend.several_nodes
            or len(devices) == backend.world_size
            or console.refuse("npuDeviceID does not allow repetitive element")
            for devices in backend.devices
        ],
        backend.pool in _POOLS
        or console.refuse(
            "Unknow kv pool backend. And only [`unifiedcache`, `mooncake`, `memcache`, ``] is available!"
        ),
        len(backend.pool_path.encode()) <= _LONGEST_PATH
        or console.refuse("The length of kvPool Config Path exceeds 500."),
    ]
    return all(results)


def _check_name(console: Console, name: str) -> bool:
    if len(name.encode()) > _LONGEST_NAME:
        return console.refuse("The length of backendName exceeds 50.")
    return _NAME.fullmatch(name) is not None or console.refuse("The pattern of backendName is invalid.")


def needs_rank_table(console: Console, *, usable: bool) -> None:
    """Several nodes need a rank table. Raises Thrown."""
    if usable:
        return
    wanted = "please set a valid ranktable file path with RANK_TABLE_FILE environment."
    console.say(f"Ranktable file is not exist, {wanted}")
    raise Thrown("ConfigManager init exception: init rank table config error.")
