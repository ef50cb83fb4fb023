"""Bracket: low, start and high of max_batch_size from the block arithmetic; a start, not a wall."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestBlocks:
    """KV blocks that a request takes: shortest, mean and longest."""

    min_blocks: int
    mean_blocks: int
    max_blocks: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Bracket:
    """Where to look for the best max_batch_size."""

    low: int
    start: int
    high: int
    start_prefill: int
    blocks: int
    source: str
    """Where `blocks` comes from: a BlockSource value."""
