"""The config.json that an install comes with, as each generation of MindIE ships it, with our values in."""

from dataclasses import dataclass
from importlib import resources
from typing import Final

from autotune.errors import UsageError
from autotune.mindie_rules.bounds import Version, parse_version

_V1_RC3: Final = parse_version("1.0.RC3")
_V2_3: Final = parse_version("2.3.RC1")


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigValues:
    """What is put into the shipped file."""

    model_name: str
    model_path: str
    port: int
    management_port: int
    metrics_port: int
    max_link_num: int
    https: bool
    world_size: int
    max_batch_size: int
    max_prefill_batch_size: int
    max_prefill_tokens: int
    max_iter_times: int
    support_select_batch: bool


def known_version(text: str) -> Version:
    """The version that a text names. Raises UsageError when it names none."""
    version = parse_version(text)
    if version is None:
        raise UsageError(f"not a version of MindIE: {text}", hint="write 3.0, 2.3, 2.0, 1.0.0 or 1.0.RC2")
    return version


def template_name(version: Version) -> str:
    """Which shipped file this version has: 1.0.RC2, 1.0.RC3 to 2.2, or 2.3 and later."""
    if _V1_RC3 is not None and version < _V1_RC3:
        return "config_rc2.json"
    if _V2_3 is not None and version < _V2_3:
        return "config_1.json"
    return "config_3.json"


def config_text(version: Version, values: ConfigValues) -> str:
    """The file's text."""
    folder = resources.files("autotune.emulator").joinpath("templates")
    text = folder.joinpath(template_name(version)).read_text(encoding="utf-8")
    devices = ",".join(str(device) for device in range(values.world_size))
    words = {
        "PORT": values.port,
        "MANAGEMENT_PORT": values.management_port,
        "METRICS_PORT": values.metrics_port,
        "MAX_LINK_NUM": values.max_link_num,
        "HTTPS": str(values.https).lower(),
        "DEVICES": devices,
        "MODEL_NAME": values.model_name,
        "MODEL_PATH": values.model_path,
        "WORLD_SIZE": values.world_size,
        "MAX_BATCH_SIZE": values.max_batch_size,
        "MAX_PREFILL_BATCH_SIZE": values.max_prefill_batch_size,
        "MAX_PREFILL_TOKENS": values.max_prefill_tokens,
        "MAX_ITER_TIMES": values.max_iter_times,
        "SUPPORT_SELECT_BATCH": str(values.support_select_batch).lower(),
    }
    for word, value in words.items():
        text = text.replace(f"@{word}@", str(value))
    return text


def newest_config() -> str:
    """The newest shipped file, with values that pass every check."""
    values = ConfigValues(
        model_name="model",
        model_path="/model",
        port=1025,
        management_port=1026,
        metrics_port=1027,
        max_link_num=1000,
        https=False,
        world_size=1,
        max_batch_size=200,
        max_prefill_batch_size=50,
        max_prefill_tokens=8192,
        max_iter_times=512,
        support_select_batch=False,
    )
    return config_text(known_version("3.0"), values)
