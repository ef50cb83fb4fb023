"""Block bytes: what one block of the KV cache takes on one card, with every term of the sum.

Source: MindIE-LLM's cache settings. ND layout [blocks, block size, heads on card, head size];
NZ layout (310P, first-generation 910) rounds heads x head size up to 16 numbers, 32 for int8 keys.
"""

from dataclasses import dataclass

from autotune.errors import UsageError
from autotune.sizing.cache_type import CacheType
from autotune.sizing.model_shape import Attention, HeadShape, ModelShape
from autotune.sizing.term import Term

_NZ_NUMBERS = 16
_NZ_INT8_NUMBERS = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockBytes:
    """Bytes of one block on one card."""

    total: int
    """One cache shape for all layers, indexer included, as MindIE allocates it; summed by kind of
    layer where window layers have heads of their own."""
    full_layer_bytes: int
    """Of it in layers that keep a full cache, each kind of layer with heads of its own."""
    sliding_layer_bytes: int
    """Of it in layers that only need a window."""
    indexer_bytes: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Layout:
    """How numbers become bytes on one card."""

    block_size: int
    tensor_parallel: int
    divides: bool
    cache_type: CacheType
    element_bytes: int
    nz: bool

    def heads_on_card(self, heads: HeadShape) -> int:
        return -(-heads.kv_heads // self.tensor_parallel) if self.divides else heads.kv_heads

    def token_bytes(self, heads: HeadShape, cache_type: CacheType) -> tuple[int, int]:
        """Bytes of one token's key and value in one layer."""
        count = self.heads_on_card(heads)
        key_bytes = cache_type.key_bytes(self.element_bytes)
        value_bytes = cache_type.value_bytes(self.element_bytes)
        key = self._rounded(count * heads.key_dim, key_bytes) * key_bytes
        return key, self._rounded(count * heads.value_dim, value_bytes) * value_bytes

    def _rounded(self, numbers: int, number_bytes: int) -> int:
        unit = _NZ_INT8_NUMBERS if number_bytes == 1 else _NZ_NUMBERS
        return -(-numbers // unit) * unit if self.nz else numbers


def block_bytes(
    shape: ModelShape,
    *,
    block_size: int = 128,
    tensor_parallel: int = 1,
    mtp_layers: int = 0,
    cache_type: CacheType | None = None,
    quantised_layers: int | None = None,
    nz: bool = False,
) -> BlockBytes:
    """Bytes of a block of `block_size` tokens on one of `tensor_parallel` cards.

    `mtp_layers` is 1 when multi-token prediction is on. `cache_type` is the model's own when None.
    `quantised_layers` limits FA3 to that many layers; all when None. Raises UsageError for sizes
    below one.
    """
    if block_size < 1 or tensor_parallel < 1 or mtp_layers < 0:
        raise UsageError(
            f"block size {block_size}, tp {tensor_parallel} or MTP layers {mtp_layers} is too small"
        )
    layout = _Layout(
        block_size=block_size,
        tensor_parallel=tensor_parallel,
        divides=shape.attention is Attention.GROUPED,
        cache_type=cache_type or shape.cache_type,
        element_bytes=shape.element_bytes,
        nz=nz,
    )
    layers = shape.cached_layers + mtp_layers
    quantised = layers if quantised_layers is None else min(quantised_layers, layers)
    indexer = block_size * layers * shape.indexer_dim * shape.element_bytes
    full_layers = shape.full_layers + mtp_layers
    sliding_layers = shape.sliding_layers
    full = _cache_bytes(shape.full_heads, layout, full_layers, min(quantised, full_layers))
    sliding = _cache_bytes(shape.sliding_heads, layout, sliding_layers, min(quantised, sliding_layers))
    uniform = shape.sliding_heads == shape.heads
    cache = _cache_bytes(shape.heads, layout, layers, quantised) if uniform else full + sliding
    return BlockBytes(
        total=cache + indexer,
        full_layer_bytes=full,
        sliding_layer_bytes=sliding,
        indexer_bytes=indexer,
        terms=_terms(shape, layout, mtp_layers, quantised, full, sliding, indexer),
    )


def _cache_bytes(heads: HeadShape, layout: _Layout, layers: int, quantised: int) -> int:
    """Bytes of keys and values of a block over all layers, of which `quantised` are as cache_type says."""
    packed = sum(layout.token_bytes(heads, layout.cache_type))
    plain = sum(layout.token_bytes(heads, CacheType.FLOAT))
    return layout.block_size * (quantised * packed + (layers - quantised) * plain)


def _terms(
    shape: ModelShape, layout: _Layout, mtp_layers: int, quantised: int, full: int, sliding: int, indexer: int
) -> tuple[Term, ...]:
    """The arithmetic in the order in which an engineer does it on paper."""
    layers = shape.cached_layers + mtp_layers
    terms = [_layer_term(shape, layers, mtp_layers)]
    if shape.sliding_heads == shape.heads:
        terms += _cache_terms(shape.heads, layout, layers, quantised)
    else:
        terms.append(
            Term(name="cache_bytes", value=full + sliding, formula=f"{full} full + {sliding} sliding")
        )
    cache = int(terms[-1].value)
    if indexer:
        formula = f"{layout.block_size} x {layers} x {shape.indexer_dim} x {shape.element_bytes} bytes"
        terms.append(Term(name="indexer_bytes", value=indexer, formula=formula))
    total = f"{cache} + {indexer}" if indexer else str(cache)
    terms.append(Term(name="block_bytes", value=cache + indexer, formula=total))
    if shape.sliding_layers:
        terms += _kind_terms(shape, full, sliding)
    return tuple(terms)


def _cache_terms(heads: HeadShape, layout: _Layout, layers: int, quantised: int) -> list[Term]:
    key, value = layout.token_bytes(heads, layout.cache_type)
    formula = f"{layout.block_size} tokens x {quantised} layers x ({key} + {value}) bytes"
    if quantised < layers:
        plain = sum(layout.token_bytes(heads, CacheType.FLOAT))
        formula += f" + {layout.block_size} x {layers - quantised} x {plain} bytes not quantised"
    return [
        _heads_term(heads, layout),
        Term(name="key_bytes", value=key, formula=_side(layout, heads, heads.key_dim, key)),
        Term(name="value_bytes", value=value, formula=_side(layout, heads, heads.value_dim, value)),
        Term(name="cache_bytes", value=_cache_bytes(heads, layout, layers, quantised), formula=formula),
    ]


def _kind_terms(shape: ModelShape, full: int, sliding: int) -> list[Term]:
    """What an engine that gives each kind of layer a cache of its own would keep of a block."""
    window = f" of {shape.window} tokens" if shape.window else ""
    return [
        Term(name="full_layer_bytes", value=full, formula=f"{shape.full_layers} layers with a full cache"),
        Term(
            name="sliding_layer_bytes",
            value=sliding,
            formula=f"{shape.sliding_layers} layers with a window{window}",
        ),
    ]


def _layer_term(shape: ModelShape, layers: int, mtp_layers: int) -> Term:
    formula = str(shape.layers)
    if shape.state_layers:
        formula += f" - {shape.state_layers} without a cache"
    if shape.shared_layers:
        formula += f" - {shape.shared_layers} that share one"
    if mtp_layers:
        formula += f" + {mtp_layers} for multi-token prediction"
    return Term(name="layers", value=layers, formula=formula)


def _heads_term(heads: HeadShape, layout: _Layout) -> Term:
    on_card = layout.heads_on_card(heads)
    if not layout.divides:
        return Term(name="kv_heads_on_card", value=on_card, formula="1 latent, the same on every card")
    formula = f"ceil({heads.kv_heads} KV heads / {layout.tensor_parallel} cards)"
    return Term(name="kv_heads_on_card", value=on_card, formula=formula)


def _side(layout: _Layout, heads: HeadShape, dim: int, total: int) -> str:
    count = layout.heads_on_card(heads)
    numbers = count * dim
    plain = f"{count} x {dim}"
    rounded = f"{plain} rounded up for NZ" if layout.nz and total % numbers else plain
    return f"{rounded} x {max(1, total // numbers)} bytes"
