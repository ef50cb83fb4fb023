"""CacheType: in how many bytes keys and values are cached, and how a model's files say so."""

from collections.abc import Mapping
from enum import Enum, unique

from autotune.sizing.config_keys import DTYPE, Config, is_mapping

_ELEMENT_BYTES = 2
_FLOATS = ("float16", "bfloat16", "half", "fp16", "bf16")


@unique
class CacheType(Enum):
    """How the cache is quantised; see the MindIE guide on int8 KV cache."""

    FLOAT = "float"
    C8 = "C8"
    """Keys and values in one byte."""
    FA3 = "FA3"
    """Keys in one byte, values as the model computes."""

    def key_bytes(self, element_bytes: int) -> int:
        """Bytes of one cached number of a key."""
        return element_bytes if self is CacheType.FLOAT else 1

    def value_bytes(self, element_bytes: int) -> int:
        """Bytes of one cached number of a value."""
        return 1 if self is CacheType.C8 else element_bytes


def read_cache_type(config: Config) -> CacheType:
    """From config.json (quantization_config) or from quant_model_description*.json."""
    inner = config.get("quantization_config")
    nested = inner if is_mapping(inner) else {}
    for part in (config, nested):
        if "C8" in (part.get("kv_cache_type"), part.get("kv_quant_type")):
            return CacheType.C8
        if str(part.get("fa_quant_type") or "").upper().startswith("FA"):
            return CacheType.FA3
    scheme = nested.get("kv_cache_scheme")
    if is_mapping(scheme) and scheme.get("num_bits") == 8:  # noqa: PLR2004 - bits of an int8
        return CacheType.C8
    return CacheType.FLOAT


def read_quantised_layers(description: Mapping[str, object]) -> int | None:
    """How many layers a quantisation description marks for FA3; None when it marks none singly."""
    marked = {
        name.split(".self_attn.")[0]
        for name, value in description.items()
        if ".self_attn." in name and isinstance(value, str) and value.upper().startswith("FA")
    }
    return len(marked) or None


def read_element_type(config: Config) -> tuple[str, int, str]:
    """Name and bytes of what the model computes in, and a remark when it was assumed.

    Serving engines on Ascend compute in two-byte floats whatever the weights are stored in.
    """
    given = next((config[name] for name in DTYPE if isinstance(config.get(name), str)), None)
    name = str(given).removeprefix("torch.") if given is not None else ""
    if name in _FLOATS:
        return name, _ELEMENT_BYTES, ""
    stated = f"{name!r} is not served on Ascend" if name else "no torch_dtype is given"
    return "bfloat16", _ELEMENT_BYTES, f"{stated}; bfloat16 is assumed"
