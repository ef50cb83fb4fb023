"""ModelShape: what of a model's config.json decides the size of its KV cache."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, unique

from autotune.sizing.cache_type import CacheType, read_cache_type, read_element_type
from autotune.sizing.config_keys import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LATENT_RANK,
    LATENT_ROPE,
    LAYERS,
    MTP_LAYERS,
    Config,
    attention_part,
    first_int,
    is_mapping,
    no_formula,
    text_model,
    whole,
)
from autotune.sizing.layer_kinds import LayerKind, layer_kinds, sliding_window

_TWO_ATTENTIONS_A_LAYER = ("longcat_flash",)
_WITHOUT_ATTENTION = ("mamba", "falcon_mamba", "rwkv", "retnet", "xlstm")
_UNKNOWN_CACHES = {
    "is_encoder_decoder": "an encoder-decoder model also caches its encoder",
    "block_configs": "attention differs from layer to layer (block_configs)",
    "compress_ratios": "the cache is compressed differently in each layer (compress_ratios)",
}


_MOST_LAYERS = 10_000
"""More than any model has; a larger number is damage."""


@unique
class Attention(Enum):
    """What is cached of a token."""

    GROUPED = "GQA"
    """Key and value of each KV head; multi-head and multi-query are its extremes."""
    LATENT = "MLA"
    """One latent vector and one rotary key for all heads, the same on every card."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadShape:
    """What one layer caches of a token before it is spread over cards."""

    kv_heads: int
    key_dim: int
    value_dim: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelShape:
    """Everything that the size of a block depends on."""

    model_type: str
    attention: Attention
    layers: int
    """Layers of the model, whatever they cache."""
    full_layers: int
    sliding_layers: int
    state_layers: int = 0
    """Layers with a state of fixed size and no blocks."""
    shared_layers: int = 0
    """Layers that read another layer's cache and keep none."""
    heads: HeadShape
    """The cache's shape where one shape serves all layers, as MindIE allocates it."""
    full_heads: HeadShape
    sliding_heads: HeadShape
    window: int | None = None
    """Tokens that a sliding layer looks back."""
    indexer_dim: int = 0
    """Numbers that a sparse-attention indexer caches of a token in each layer."""
    mtp_layers: int = 0
    """Multi-token-prediction layers in the checkpoint; cached only when speculation is on."""
    dtype: str = "bfloat16"
    element_bytes: int = 2
    cache_type: CacheType = CacheType.FLOAT
    remarks: tuple[str, ...] = ()
    """What was assumed."""

    @property
    def cached_layers(self) -> int:
        """Layers that keep blocks."""
        return self.full_layers + self.sliding_layers


def read_shape(config: Mapping[str, object]) -> ModelShape:
    """Read a HuggingFace config.json, nested or with old key names.

    Raises UsageError asking for the blocks when no formula fits.
    """
    if not is_mapping(config):
        raise no_formula("config.json holds no JSON object")
    part = text_model(config)
    _check_cache_is_known(part)
    layers = first_int(part, LAYERS)
    if layers is None:
        raise no_formula(f"no number of layers ({', '.join(LAYERS[:4])})")
    if layers > _MOST_LAYERS:
        raise no_formula(f"{layers} layers are no number of layers")
    layers *= 2 if part.get("model_type") in _TWO_ATTENTIONS_A_LAYER else 1
    attention, heads = _heads(part)
    kinds, shared = _cached_kinds(part, layers)
    if not {LayerKind.FULL, LayerKind.SLIDING} & set(kinds):
        raise no_formula("no layer keeps keys and values")
    dtype, element_bytes, remark = read_element_type(part)
    return ModelShape(
        model_type=str(part.get("model_type") or config.get("model_type") or "unknown"),
        attention=attention,
        layers=layers,
        full_layers=kinds.count(LayerKind.FULL),
        sliding_layers=kinds.count(LayerKind.SLIDING),
        state_layers=kinds.count(LayerKind.STATE),
        shared_layers=shared,
        heads=heads,
        full_heads=_special_heads(
            part, heads, "num_global_key_value_heads", "global_head_dim", "global_v_head_dim"
        ),
        sliding_heads=_special_heads(
            part, heads, "swa_num_key_value_heads", "swa_head_dim", "swa_v_head_dim"
        ),
        window=sliding_window(part) if LayerKind.SLIDING in kinds else None,
        indexer_dim=whole(part.get("index_head_dim")) or 0,
        mtp_layers=first_int(part, MTP_LAYERS) or 0,
        dtype=dtype,
        element_bytes=element_bytes,
        cache_type=read_cache_type(part),
        remarks=(remark,) if remark else (),
    )


def _check_cache_is_known(config: Config) -> None:
    for key, reason in _UNKNOWN_CACHES.items():
        if config.get(key):
            raise no_formula(reason)
    model_type = str(config.get("model_type") or "")
    if model_type.startswith(_WITHOUT_ATTENTION):
        raise no_formula(f"{model_type} keeps a state of fixed size and no keys and values")


def _cached_kinds(config: Config, layers: int) -> tuple[tuple[LayerKind, ...], int]:
    """Kinds of the layers with a cache of their own, and how many share another layer's."""
    kinds = layer_kinds(config, layers)
    shared = min(whole(config.get("num_kv_shared_layers")) or 0, layers)
    factor = whole(config.get("cla_share_factor")) if config.get("use_cla") is True else None
    if factor is not None and factor > 1:
        return kinds[::factor], layers - len(kinds[::factor])
    return kinds[: layers - shared], shared


def _heads(config: Config) -> tuple[Attention, HeadShape]:
    rank, rope = first_int(config, LATENT_RANK), first_int(config, LATENT_ROPE)
    if rank is not None and rope is not None and config.get("use_mla") is not False:
        return Attention.LATENT, HeadShape(kv_heads=1, key_dim=rank, value_dim=rope)
    heads = first_int(config, HEADS)
    dim = first_int(config, HEAD_DIM) or _divided_dim(config, heads)
    kv_heads = _kv_heads(config, heads)
    if dim is None or kv_heads is None:
        raise no_formula("no attention heads, or no size of one, are given")
    value_dim = whole(config.get("v_head_dim")) or dim
    return Attention.GROUPED, HeadShape(kv_heads=kv_heads, key_dim=dim, value_dim=value_dim)


def _divided_dim(config: Config, heads: int | None) -> int | None:
    hidden = first_int(config, HIDDEN)
    return hidden // heads if hidden is not None and heads is not None and hidden >= heads else None


def _kv_heads(config: Config, heads: int | None) -> int | None:
    """KV heads under all their names; without any there are as many as query heads.

    Falcon's `multi_query` means one head, unless the newer decoder gives a number of its own;
    ChatGLM's `multi_query_attention` brings its number of groups along, OLMo's means one.
    """
    groups = whole(config.get("multi_query_group_num"))
    if config.get("multi_query_attention") is False:
        groups = None
    if groups is not None:
        return groups
    if config.get("multi_query") is True and config.get("new_decoder_architecture") is not True:
        return 1
    stated = first_int(config, KV_HEADS) or first_int(attention_part(config), ("kv_n_heads",))
    if stated is None and config.get("multi_query_attention") is True:
        return 1
    if (
        stated is None
        and "multi_query" in config
        and attention_part(config).get("attn_type") == "multiquery_attention"
    ):
        return 1
    return stated or heads


def _special_heads(config: Config, heads: HeadShape, count: str, key: str, value: str) -> HeadShape:
    """Heads of one kind of layer where the model gives that kind keys of its own."""
    key_dim = whole(config.get(key))
    return HeadShape(
        kv_heads=whole(config.get(count)) or heads.kv_heads,
        key_dim=key_dim or heads.key_dim,
        value_dim=whole(config.get(value)) or key_dim or heads.value_dim,
    )
