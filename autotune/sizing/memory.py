"""Memory: what a card has left for the KV cache by the vendor's formula, and the blocks it holds.

Source: MindIE performance tuning guide, npuMemSize = floor((card - idle use - weights / cards) x 0.8).
"""

import math
from dataclasses import dataclass

from autotune.errors import UsageError
from autotune.sizing.term import Term

MEMORY_FRACTION = 0.8
"""NPU_MEMORY_FRACTION's default."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuMemory:
    """Memory for the cache of one card, in whole GiB."""

    gib: int
    terms: tuple[Term, ...]


def npu_memory_gib(
    *,
    card_gib: float,
    used_gib: float,
    weights_gib: float,
    cards: int,
    fraction: float = MEMORY_FRACTION,
    post_processing_gib: float = 0.0,
) -> NpuMemory:
    """What npuMemSize of one card should be. Raises UsageError when the model leaves no memory."""
    if cards < 1:
        raise UsageError(f"{cards} cards hold no model")
    share = weights_gib / cards
    free = card_gib - used_gib - share - post_processing_gib
    # One part in a billion keeps 21.25 x 0.8 = 17 from becoming 16.999...
    gib = math.floor(free * fraction * (1 + 1e-9))
    if gib < 1:
        raise UsageError(
            f"{card_gib:g} GiB less {used_gib:g} in use and {share:g} of weights leave none for the cache",
            hint="use more cards: --tp N",
        )
    post = f" - {post_processing_gib:g}" if post_processing_gib else ""
    terms = (
        Term(name="weights_on_card_gib", value=share, formula=f"{weights_gib:g} / {cards} cards"),
        Term(name="free_gib", value=free, formula=f"{card_gib:g} - {used_gib:g} - {share:g}{post}"),
        Term(name="npu_memory_gib", value=gib, formula=f"floor({free:g} x {fraction:g})"),
    )
    return NpuMemory(gib=gib, terms=terms)


def blocks_in(memory_bytes: int, block_bytes: int) -> int:
    """Whole blocks in the memory. Raises UsageError when there is not even one."""
    blocks = memory_bytes // block_bytes if block_bytes > 0 else 0
    if blocks < 1:
        raise UsageError(f"{memory_bytes} bytes hold no block of {block_bytes} bytes")
    return blocks


def blocks_term(memory_bytes: int, block_bytes: int) -> Term:
    """The same as a term."""
    formula = f"floor({memory_bytes} / {block_bytes})"
    return Term(name="blocks", value=blocks_in(memory_bytes, block_bytes), formula=formula)
