"""Layer kinds: which layers keep a full cache, which only a window, which none at all.

Sources: the configuration classes of the transformers library and the models' own config.json.
"""

from collections.abc import Callable, Sequence
from enum import Enum, unique

from autotune.sizing.config_keys import Config, is_mapping, no_formula, whole


@unique
class LayerKind(Enum):
    """What a layer keeps of the past."""

    FULL = "full"
    SLIDING = "sliding"
    STATE = "state"
    """Linear attention, recurrence or convolution: a state of fixed size, no blocks."""


_BY_NAME = {
    "full_attention": LayerKind.FULL,
    "attention": LayerKind.FULL,
    "full": LayerKind.FULL,
    "global": LayerKind.FULL,
    "global_attention": LayerKind.FULL,
    "hybrid": LayerKind.FULL,
    "sliding_attention": LayerKind.SLIDING,
    "sliding": LayerKind.SLIDING,
    "local": LayerKind.SLIDING,
    "local_attention": LayerKind.SLIDING,
    "chunked_attention": LayerKind.SLIDING,
    "linear_attention": LayerKind.STATE,
    "linear": LayerKind.STATE,
    "mamba": LayerKind.STATE,
    "mamba2": LayerKind.STATE,
    "recurrent": LayerKind.STATE,
    "conv": LayerKind.STATE,
    "moe": LayerKind.STATE,
    "mlp": LayerKind.STATE,
}
_BY_LETTER = {
    "*": LayerKind.FULL,
    "G": LayerKind.FULL,
    "L": LayerKind.SLIDING,
    "M": LayerKind.STATE,
    "-": LayerKind.STATE,
    "E": LayerKind.STATE,
}
_LAYER_NAMES = ("layer_types", "layers_block_type", "attention_layers")
_LAYER_INDEXES = ("attn_layer_indices", "full_attn_idxs", "hybrid_layer_ids", "full_attn_layers")
_FULL_EVERY = (
    "full_attention_interval",
    "sliding_window_pattern",
    "_sliding_window_pattern",
    "no_rope_layer_interval",
)
_ALTERNATE = ("gemma2", "gemma2_text")


def layer_kinds(config: Config, layers: int) -> tuple[LayerKind, ...]:
    """The kind of each of the model's layers. Raises UsageError for a kind that is not known."""
    for read in _READERS:
        kinds = read(config, layers)
        if kinds is not None:
            return tuple(kinds)
    return (LayerKind.FULL,) * layers


def sliding_window(config: Config) -> int | None:
    """Tokens that a sliding layer looks back, where the model uses a window at all."""
    if config.get("use_sliding_window") is False:
        return None
    names = ("sliding_window", "sliding_window_size", "attention_chunk_size", "window_size")
    return next((window for name in names if (window := whole(config.get(name)))), None)


def _named(config: Config, layers: int) -> Sequence[LayerKind] | None:
    for name in _LAYER_NAMES:
        listed = config.get(name)
        if isinstance(listed, list) and listed:
            return [_kind_of(word) for word in _repeated(listed, layers)]
    blocks = config.get("block_types") or config.get("_block_types")
    if isinstance(blocks, list) and blocks:
        kinds = [_kind_of(word) for word in _repeated(blocks, layers)]
        window = config.get("attention_window_size")
        return [LayerKind.SLIDING if window and kind is LayerKind.FULL else kind for kind in kinds]
    return None


def _lettered(config: Config, layers: int) -> Sequence[LayerKind] | None:
    for name in ("hybrid_override_pattern", "sliding_window_pattern"):
        letters = config.get(name)
        if isinstance(letters, str) and letters:
            unknown = sorted(set(letters) - set(_BY_LETTER))
            if unknown:
                raise no_formula(f"{name} has layers of the unknown kind {unknown[0]!r}")
            return [_BY_LETTER[letters[index % len(letters)]] for index in range(layers)]
    return None


def _numbered(config: Config, layers: int) -> Sequence[LayerKind] | None:
    """MiniMax: 1 is full, 0 is linear. MiMo: 0 is full, 1 is sliding."""
    for name, full, other in (
        ("attn_type_list", 1, LayerKind.STATE),
        ("hybrid_layer_pattern", 0, LayerKind.SLIDING),
    ):
        listed = config.get(name)
        if isinstance(listed, list) and listed:
            return [LayerKind.FULL if number == full else other for number in _repeated(listed, layers)]
    return None


def _indexed(config: Config, layers: int) -> Sequence[LayerKind] | None:
    """Lists of the layers that have attention; Kimi's counts from one."""
    linear = config.get("linear_attn_config")
    if is_mapping(linear) and isinstance(linear.get("full_attn_layers"), list):
        return _at({number - 1 for number in _whole_numbers(linear["full_attn_layers"])}, layers)
    for name in _LAYER_INDEXES:
        listed = config.get(name)
        if isinstance(listed, list) and listed:
            return _at(set(_whole_numbers(listed)), layers)
    return None


def _periodic(config: Config, layers: int) -> Sequence[LayerKind] | None:
    period = whole(config.get("attn_layer_period"))
    if period is not None:
        offset = config.get("attn_layer_offset")
        first = offset if isinstance(offset, int) else 0
        return _at({index for index in range(layers) if index % period == first % period}, layers)
    for name in _FULL_EVERY:
        every = whole(config.get(name))
        if every is not None and (name == "full_attention_interval" or sliding_window(config)):
            other = LayerKind.STATE if name == "full_attention_interval" else LayerKind.SLIDING
            return [LayerKind.FULL if (index + 1) % every == 0 else other for index in range(layers)]
    return None


def _windowed(config: Config, layers: int) -> Sequence[LayerKind] | None:
    """One window for all layers, for every other one (Gemma 2), or from a layer on (Qwen2)."""
    if sliding_window(config) is None:
        return None
    if config.get("model_type") in _ALTERNATE:
        return [LayerKind.FULL if index % 2 else LayerKind.SLIDING for index in range(layers)]
    first = config.get("max_window_layers")
    full = min(first, layers) if isinstance(first, int) and not isinstance(first, bool) else 0
    return [LayerKind.FULL] * full + [LayerKind.SLIDING] * (layers - full)


_READERS: tuple[Callable[[Config, int], Sequence[LayerKind] | None], ...] = (
    _named,
    _lettered,
    _numbered,
    _indexed,
    _periodic,
    _windowed,
)


def _kind_of(word: object) -> LayerKind:
    if not isinstance(word, str) or word not in _BY_NAME:
        raise no_formula(f"layers of the unknown kind {word!r}")
    return _BY_NAME[word]


def _repeated(pattern: Sequence[object], layers: int) -> list[object]:
    """The pattern over all layers: some models give one period, some one entry for each layer."""
    return [pattern[index % len(pattern)] for index in range(layers)]


def _at(full: set[int], layers: int) -> list[LayerKind]:
    return [LayerKind.FULL if index in full else LayerKind.STATE for index in range(layers)]


def _whole_numbers(listed: object) -> list[int]:
    return [number for number in listed if isinstance(number, int)] if isinstance(listed, list) else []
