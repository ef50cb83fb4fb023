"""VllmRules: the limits and blocks that vLLM's scheduler decides with."""

from bisect import bisect_left
from dataclasses import dataclass, replace

from autotune.errors import UsageError
from autotune.model.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class VllmRules:
    """Command line values as the scheduler sees them. Source: vLLM's V1 scheduler."""

    blocks: int
    """KV blocks that may be given out: num_gpu_blocks less the null block."""
    max_batch_size: int = 256
    """--max-num-seqs."""
    max_num_batched_tokens: int = 2048
    cache_block_size: int = 128
    """--block-size."""
    chunked_prefill: bool = True
    gears: tuple[int, ...] = ()
    """Captured graph sizes, ascending: a pure decode is padded to the next one. Empty: no graphs."""

    def __post_init__(self) -> None:
        if min(self.blocks, self.max_batch_size, self.cache_block_size) < 1:
            raise UsageError("blocks, max_batch_size and cache_block_size must be at least 1")
        if self.max_num_batched_tokens < self.max_batch_size:
            raise UsageError(
                f"max_num_batched_tokens ({self.max_num_batched_tokens}) must be greater than or equal to "
                f"max_num_seqs ({self.max_batch_size})"
            )
        if list(self.gears) != sorted(self.gears):
            raise UsageError("gears must ascend")

    def blocks_for(self, tokens: int) -> int:
        """KV blocks that hold this many tokens."""
        return -(-tokens // self.cache_block_size)

    def padding(self, decoding: int) -> int:
        """Sequences that a pure decode computes for nothing; 0 above the largest gear."""
        place = bisect_left(self.gears, decoding)
        return self.gears[place] - decoding if place < len(self.gears) else 0

    def with_settings(self, settings: Settings) -> "VllmRules":
        """These rules with the values that one launch sets."""
        batched = settings.max_num_batched_tokens
        return replace(
            self,
            max_batch_size=settings.max_batch_size,
            max_num_batched_tokens=self.max_num_batched_tokens if batched is None else batched,
        )

    def with_batch(self, max_batch_size: int) -> "VllmRules":
        """These rules at another limit, with max_num_batched_tokens raised where it would be below."""
        batched = max(self.max_num_batched_tokens, max_batch_size)
        return replace(self, max_batch_size=max_batch_size, max_num_batched_tokens=batched)

    def settings(self) -> Settings:
        """What a service that is configured so reports."""
        return Settings(
            max_batch_size=self.max_batch_size, max_num_batched_tokens=self.max_num_batched_tokens
        )
