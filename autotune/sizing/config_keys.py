"""Keys of a model's config.json: the names that one fact goes by, and where a nested text model lies."""

from collections.abc import Mapping
from typing import TypeGuard

from autotune.errors import UsageError

LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "num_transformer_layers")
HIDDEN = ("hidden_size", "n_embd", "n_embed", "d_model", "model_dim", "dim")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = (
    "num_key_value_heads",
    "num_kv_heads",
    "n_kv_heads",
    "n_head_kv",
    "num_attention_groups",
    "num_query_groups",
)
HEAD_DIM = ("head_dim", "kv_channels", "attention_head_dim", "attention_head_size")
LATENT_RANK = ("kv_lora_rank", "attention_kv_lora_dim")
LATENT_ROPE = ("qk_rope_head_dim", "attention_qk_rope_dim")
MTP_LAYERS = ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers", "mtp_num_layers")
DTYPE = ("torch_dtype", "dtype", "params_dtype")
_TEXT_MODELS = (
    "text_config",
    "llm_config",
    "language_config",
    "thinker_config",
    "text_model_config",
    "language_model_config",
    "llm_backbone_config",
)
_ATTENTION = "attn_config"
_DEFAULTS: dict[str, dict[str, object]] = {
    "mistral": {"num_key_value_heads": 8},
    "mixtral": {"num_key_value_heads": 8},
    "gemma": {"head_dim": 256},
    "gemma2": {"head_dim": 256, "num_key_value_heads": 4},
    "gemma3_text": {
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "sliding_window": 4096,
        "sliding_window_pattern": 6,
    },
    "cohere2": {"sliding_window": 4096, "sliding_window_pattern": 4},
    "qwen3": {"head_dim": 128},
    "qwen3_next": {"full_attention_interval": 4},
    "llama4_text": {"attention_chunk_size": 8192, "no_rope_layer_interval": 4},
    "gpt_oss": {"head_dim": 64, "num_key_value_heads": 8},
}
"""What a model type means by a key that its file leaves out (transformers' configuration classes)."""

Config = Mapping[str, object]


def text_model(config: Config) -> dict[str, object]:
    """The part that describes the language model, with what only the outer part says added.

    Multimodal checkpoints keep it under text_config, llm_config, thinker_config.text_config and so on.
    """
    for name in _TEXT_MODELS:
        inner = config.get(name)
        if is_mapping(inner) and (first_int(config, LAYERS) is None or first_int(inner, LAYERS) is not None):
            outer = {key: value for key, value in config.items() if not is_mapping(value)}
            return text_model({**outer, **_known(inner)})
    return {**_DEFAULTS.get(str(config.get("model_type")), {}), **dict(config)}


def first_int(config: Config, names: tuple[str, ...]) -> int | None:
    """The first of these keys that holds a whole number above zero; also looked for in attn_config.

    Raises UsageError when a key holds a list, one number for each layer.
    """
    for name in names:
        value = config.get(name)
        if isinstance(value, list):
            raise no_formula(f"{name} differs from layer to layer")
        number = whole(value)
        if number is not None:
            return number
    return None


def attention_part(config: Config) -> Config:
    """MPT and DBRX keep attention's keys in a mapping of their own."""
    inner = config.get(_ATTENTION)
    return inner if is_mapping(inner) else {}


def whole(value: object) -> int | None:
    """The value as a whole number above zero, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 1 and float(value).is_integer() else None


def is_mapping(value: object) -> TypeGuard[Config]:
    """Whether the value is a JSON object."""
    return isinstance(value, Mapping)


def no_formula(reason: str) -> UsageError:
    """The error for a model whose cache can't be computed."""
    return UsageError(
        f"no formula for this model's KV cache: {reason}",
        hint="give the blocks that the service reports at its start: --blocks N",
    )


def _known(config: Config) -> dict[str, object]:
    """Without nulls, which would hide what the outer part says."""
    return {key: value for key, value in config.items() if value is not None}
