"""MindieRules: the limits, times and blocks that MindIE's scheduler decides with."""

from dataclasses import dataclass, replace

from autotune.errors import UsageError
from autotune.model.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class MindieRules:
    """ScheduleConfig as the scheduler sees it; names follow MindIE's, defaults are MindIE's.

    Source: MindIE service parameter documentation, and the scheduler of MindIE-LLM (2025-12, 2026-05).
    """

    blocks: int
    """KV blocks that the scheduler may give out: npuBlockNum, less what this version keeps back."""
    max_batch_size: int = 200
    max_prefill_batch_size: int = 50
    """0 stands for max_batch_size."""
    max_prefill_tokens: int = 8192
    max_seq_len: int = 2560
    max_iter_times: int = 512
    cache_block_size: int = 128
    cpu_blocks: int = 0
    max_preempt_count: int = 0
    """Sequences that one round may swap out to the CPU; the others are recomputed."""
    support_select_batch: bool = False
    prefill_time_ms_per_req: int = 150
    decode_time_ms_per_req: int = 50
    max_queue_delay_microseconds: int = 5000
    max_first_token_wait_ms: int = 2500
    larger_prefill_budget: bool = True
    """3.x: a prefill takes max(max_seq_len, max_prefill_tokens) tokens; older: max_prefill_tokens."""
    recompute_threshold: float | None = None
    """1.x and 2.0 (MIES_RECOMPUTE_THRESHOLD, 0.5): sequences that lack a block pause, and recomputation
    starts only when the share of blocks of those that can go on falls below this. None: 3.x."""

    def __post_init__(self) -> None:
        if min(self.blocks, self.max_batch_size, self.cache_block_size) < 1:
            raise UsageError("blocks, max_batch_size and cache_block_size must be at least 1")
        if self.max_preempt_count > 0 and self.cpu_blocks <= 0:
            raise UsageError("max_preempt_count above 0 needs cpu_blocks", hint="set cpuMemSize above 0")

    @property
    def prefill_batch(self) -> int:
        """Most sequences of one prefill."""
        return self.max_prefill_batch_size or self.max_batch_size

    @property
    def token_budget(self) -> int:
        """Most tokens of one round."""
        if self.larger_prefill_budget:
            return max(self.max_seq_len, self.max_prefill_tokens)
        return self.max_prefill_tokens

    @property
    def queue_delay(self) -> float:
        """max_queue_delay_microseconds in seconds."""
        return self.max_queue_delay_microseconds / 1e6

    @property
    def first_token_wait(self) -> float:
        """max_first_token_wait_ms in seconds."""
        return self.max_first_token_wait_ms / 1e3

    def blocks_for(self, tokens: int) -> int:
        """KV blocks that hold this many tokens."""
        return -(-tokens // self.cache_block_size)

    def with_settings(self, settings: Settings) -> "MindieRules":
        """These rules with the values that one launch sets; what it leaves alone stays."""
        changed = replace(self, max_batch_size=settings.max_batch_size)
        names = (
            "max_prefill_batch_size",
            "max_prefill_tokens",
            "prefill_time_ms_per_req",
            "decode_time_ms_per_req",
            "support_select_batch",
            "max_queue_delay_microseconds",
        )
        given = {name: getattr(settings, name) for name in names if getattr(settings, name) is not None}
        return replace(changed, **given)

    def with_batch(self, max_batch_size: int) -> "MindieRules":
        """These rules at another limit, with half of it as the prefill batch."""
        half = max(1, max_batch_size // 2)
        return replace(self, max_batch_size=max_batch_size, max_prefill_batch_size=half)

    def settings(self) -> Settings:
        """What a service that is configured so reports."""
        return Settings(
            max_batch_size=self.max_batch_size,
            max_prefill_batch_size=self.prefill_batch,
            max_prefill_tokens=self.max_prefill_tokens,
            prefill_time_ms_per_req=self.prefill_time_ms_per_req,
            decode_time_ms_per_req=self.decode_time_ms_per_req,
            support_select_batch=self.support_select_batch,
            max_queue_delay_microseconds=self.max_queue_delay_microseconds,
        )
