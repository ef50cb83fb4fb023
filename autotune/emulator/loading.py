"""Loading the model: what it prints, how many KV blocks there are after it, and how it can fail."""

from dataclasses import dataclass
from typing import Final

from autotune.emulator.default_config import known_version
from autotune.emulator.faults import Faults
from autotune.emulator.logs import ServerLog
from autotune.emulator.marker import Emulation
from autotune.emulator.served import Served
from autotune.emulator.streams import seeded
from autotune.mindie_rules import log_printing
from autotune.mindie_rules.bounds import parse_version

_WARM_UP_TOKENS_A_BLOCK: Final = 77
"""Prefill tokens whose activations take the memory of one block: 4096 x 2 x 13.25 bytes a token (Huawei's
own simulator) against 8 MiB."""
_DEFAULT_PREFILL_TOKENS: Final = 8192
_KV_HEADS: Final = 8
_HEAD_SIZE: Final = 128
_POSITIONS: Final = 8192
_WARM_UP_BLOCKS: Final = 65


@dataclass(frozen=True, kw_only=True, slots=True)
class KvBlocks:
    """KV blocks of one start."""

    allocated: int
    """npuBlockNum: the first number of the cache's shape."""
    reserved: int
    """Kept back for empty requests from 2.3 on."""

    @property
    def scheduled(self) -> int:
        """Those that the scheduler gives out."""
        return self.allocated - self.reserved


def kv_blocks(emulation: Emulation, max_prefill_tokens: int, launch: int) -> KvBlocks:
    """The blocks of this launch: fewer after a larger warm-up, and never quite the same with a spread."""
    blocks = emulation.blocks
    blocks -= max(0, max_prefill_tokens - _DEFAULT_PREFILL_TOKENS) // _WARM_UP_TOKENS_A_BLOCK
    spread = emulation.faults.blocks_spread
    if spread:
        blocks -= int(blocks * spread * seeded("blocks", emulation.seed, launch).random())
    first = parse_version("2.3.RC1")
    reserved = 1 if first is not None and known_version(emulation.version) >= first else 0
    return KvBlocks(allocated=max(2, blocks), reserved=reserved)


def failure_lines(served: Served, faults: Faults, log: ServerLog) -> tuple[str, ...]:
    """What a start prints that fails while it loads; empty for one that works."""
    stamp = log.stamp()
    rules = served.rules
    if faults.out_of_memory_at is not None and rules.max_batch_size >= faults.out_of_memory_at:
        return log_printing.out_of_memory(stamp, gib=2.57)
    limit = faults.warm_up_out_of_memory_at
    if limit is not None and rules.max_prefill_tokens >= limit:
        line = log_printing.warm_up_out_of_memory(stamp, max_input_token_len=served.max_input_token_len)
        return (line,)
    head = stamp.head("llm", "ERROR", "logging.py-348")
    match faults.start_failure:
        case "model":
            return (f"{head}LLMPythonModel initializes fail: modelWrapper return status is error",)
        case "hccl":
            return (f"{head}HcclCommInitRootInfo failed, return value is 7",)
        case "permission":
            why = "current permission is 4, but required no greater than 0"
            line = (
                "Check path: config.json failed, by: Check Other group permission failed: "
                f"{served.model_path}/config.json {why}. "
                "Required permisssion is 750, but got permission is 754"
            )
            return (line,)
        case _:
            return ()


def log_blocks(log: ServerLog, served: Served, blocks: KvBlocks) -> None:
    """The lines with the KV cache, as the ranks and the engine print them at INFO."""
    if not log.wants("llm", "INFO"):
        return
    stamp = log.stamp()
    heads = max(1, _KV_HEADS // max(1, served.world_size))
    block_size = served.rules.cache_block_size
    for count in (_WARM_UP_BLOCKS, blocks.allocated):
        line = log_printing.cache_shape(
            stamp, blocks=count, block_size=block_size, kv_heads=heads, head_size=_HEAD_SIZE
        )
        log.line("llm", "INFO", line)
    for rank in range(served.world_size):
        line = log_printing.initialize_result(
            stamp, rank=rank, blocks=blocks.scheduled, block_size=block_size, positions=_POSITIONS
        )
        log.line("llm", "INFO", line)
    overview = log_printing.cache_overview(
        stamp, npu_blocks=blocks.scheduled, cpu_blocks=served.rules.cpu_blocks, positions=_POSITIONS
    )
    log.line("llm", "INFO", overview)
