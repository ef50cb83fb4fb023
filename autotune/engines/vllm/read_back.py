"""Read back: the KV capacity and the values of a started server, against what it was given."""

from autotune.engines.vllm.control import Control
from autotune.engines.vllm.log_lines import LogReading
from autotune.engines.vllm.metrics import Capacity, read_metrics
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.service import Blocks, BlockSource
from autotune.model.settings import Settings


def blocks_of(control: Control, log: LogReading, *, block_size: int) -> Blocks | None:
    """KV blocks of `block_size` tokens: from /metrics, else from the log; None when nothing tells."""
    reply = control.get("/metrics")
    capacity = read_metrics(reply.body).capacity if reply and reply.ok else Capacity()
    count = _blocks(capacity, block_size)
    if count:
        return Blocks(count=count, source=BlockSource.METRICS)
    logged = log.capacity_blocks(block_size)
    return Blocks(count=logged, source=BlockSource.LOG) if logged else None


def check_served(log: LogReading, given: Settings, *, named: bool) -> None:
    """Raise LaunchFailed(READ_BACK) when the server says that it was given another value.

    `named` says that the value stands on the command line, so that the server prints it.
    """
    pairs = (
        ("max_num_seqs", given.max_batch_size, log.max_num_seqs if named else None),
        ("max_num_batched_tokens", given.max_num_batched_tokens, log.max_num_batched_tokens),
    )
    differing = tuple(
        f"{name}: {wanted} was given, {live} is served"
        for name, wanted, live in pairs
        if wanted is not None and live is not None and wanted != live
    )
    if differing:
        message = f"the server does not serve what it was given: {'; '.join(differing)}"
        raise LaunchFailed(LaunchCause.READ_BACK, message, lines=differing)


def padding_warning(log: LogReading, max_num_seqs: int) -> str:
    """Say that a full batch is padded to a larger captured size, or runs without a graph; else nothing."""
    sizes = log.capture_sizes
    if not sizes or max_num_seqs in sizes:
        return ""
    larger = next((size for size in sizes if size > max_num_seqs), None)
    if larger is None:
        return f"--max-num-seqs {max_num_seqs} is above the largest captured graph ({sizes[-1]})"
    return f"--max-num-seqs {max_num_seqs} was not captured: a full batch is padded to {larger}"


def _blocks(capacity: Capacity, block_size: int) -> int | None:
    """Tokens are the better measure: hybrid models change the engine's own block size."""
    if capacity.tokens is not None:
        return capacity.tokens // block_size
    if capacity.blocks is None:
        return None
    return capacity.blocks * (capacity.block_size or block_size) // block_size
