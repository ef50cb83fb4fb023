"""Estimate: from the model's files and the memory to the bracket, without touching anything."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.errors import UsageError
from autotune.foreign import json_value
from autotune.model.bracket import Bracket, RequestBlocks
from autotune.sizing.block_bytes import BlockBytes, block_bytes
from autotune.sizing.bracket import bracket, bracket_terms, request_blocks
from autotune.sizing.cache_type import CacheType, read_cache_type
from autotune.sizing.memory import blocks_in, blocks_term
from autotune.sizing.model_shape import ModelShape, read_shape
from autotune.sizing.term import Term

_NEXT = "give the number that the service reports: --blocks N"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lengths:
    """Mean lengths of the workload's requests in tokens, and the cap on generated ones."""

    input_tokens: float
    output_tokens: float
    max_output_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """The bracket and every step of the arithmetic."""

    request: RequestBlocks
    bracket: Bracket
    block_bytes: int | None
    terms: tuple[Term, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFiles:
    """What a model's own files say about its cache."""

    shape: ModelShape
    cache_type: CacheType


def from_blocks(blocks: int, lengths: Lengths, *, block_size: int = 128) -> Estimate:
    """The bracket for a known number of blocks. Raises UsageError for lengths that can't be."""
    return _estimate(blocks, lengths, block_size=block_size, source="profile", before=(), bytes_=None)


def from_model(
    model: ModelFiles,
    *,
    memory_bytes: int,
    tensor_parallel: int,
    lengths: Lengths,
    block_size: int = 128,
    mtp_layers: int = 0,
) -> Estimate:
    """The bracket from the shape of a model and the cache memory of one card.

    Raises UsageError when the memory holds no block or the lengths can't be.
    """
    found = block_bytes(
        model.shape,
        block_size=block_size,
        tensor_parallel=tensor_parallel,
        mtp_layers=mtp_layers,
        cache_type=model.cache_type,
    )
    blocks = blocks_in(memory_bytes, found.total)
    before = (*found.terms, blocks_term(memory_bytes, found.total))
    return _estimate(blocks, lengths, block_size=block_size, source="formula", before=before, bytes_=found)


def read_model(path: Path) -> ModelFiles:
    """Read a model directory or its config.json.

    Raises UsageError that asks for the blocks when there is no file that a formula fits.
    """
    directory = path if path.is_dir() else path.parent
    document = _json_object(path / "config.json" if path.is_dir() else path)
    shape = read_shape(document)
    cache_type = shape.cache_type
    for description in sorted(directory.glob("quant_model_description*.json")):
        if cache_type is CacheType.FLOAT:
            cache_type = read_cache_type(_json_object(description))
    return ModelFiles(shape=shape, cache_type=cache_type)


def _json_object(path: Path) -> dict[str, Any]:
    try:
        document = json_value(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}", hint=_NEXT) from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}", hint=_NEXT) from error
    if not isinstance(document, dict):
        raise UsageError(f"{path} holds no JSON object", hint=_NEXT)
    return document


def _estimate(
    blocks: int,
    lengths: Lengths,
    *,
    block_size: int,
    source: str,
    before: tuple[Term, ...],
    bytes_: BlockBytes | None,
) -> Estimate:
    request = request_blocks(
        input_tokens=lengths.input_tokens,
        output_tokens=lengths.output_tokens,
        max_output_tokens=lengths.max_output_tokens,
        block_size=block_size,
    )
    terms = bracket_terms(
        blocks=blocks,
        input_tokens=lengths.input_tokens,
        output_tokens=lengths.output_tokens,
        max_output_tokens=lengths.max_output_tokens,
        block_size=block_size,
    )
    return Estimate(
        request=request,
        bracket=bracket(blocks=blocks, request=request, source=source),
        block_bytes=bytes_.total if bytes_ else None,
        terms=(*before, *terms),
        remarks=(*_remarks_on_room(blocks, request), *_remarks_on_layers(bytes_)),
    )


def _remarks_on_room(blocks: int, request: RequestBlocks) -> tuple[str, ...]:
    if blocks >= request.max_blocks:
        return ()
    return (
        f"A request takes up to {request.max_blocks} blocks, and the cache has {blocks}: it does not fit.",
    )


def _remarks_on_layers(found: BlockBytes | None) -> tuple[str, ...]:
    if found is None or not found.sliding_layer_bytes:
        return ()
    remark = "Some layers keep only a window: an engine with separate cache groups holds more than this says."
    return (f"{remark} The number that the service reports wins.",)
