"""Lines that vLLM prints while it starts, in the words of all its generations: capacity, graphs, values.

Sources: public logs of vLLM 0.6 to 0.32 and of its plugin for Ascend 0.7 to 0.23.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from autotune.foreign import real, whole

_BLOCKS: Final = re.compile(r"(?:# )?[A-Z]+ blocks: (\d+)")
_TOKENS: Final = re.compile(r"[A-Z]+ KV cache size: ([\d,]+) tokens")
_CONCURRENCY: Final = re.compile(r"Maximum concurrency for ([\d,]+) tokens per request: ([\d.]+)")
_KV_MEMORY: Final = re.compile(r"(?:Current|Available) KV cache memory: (-?[\d.]+) GiB")
_CAPTURE: Final = re.compile(
    r"(?:graphs? for [a-z ]+: ?|\bcudagraph_capture_sizes['\"]?\s*[:=]\s*)\[((?:\d+, ?)*\d+)\]"
)
_SEQS: Final = re.compile(r"\bmax_num_seqs['\"]?\s*[:=]\s*(\d+)")
_BATCHED: Final = re.compile(r"\bmax_num_batched_tokens['\"]?\s*[:=]\s*(\d+)")
_ARGS: Final = ("args:", "Namespace(")
_STARTED: Final = ("Application startup complete", "Uvicorn running on")


@dataclass(frozen=True, kw_only=True, slots=True)
class LogReading:
    """What the lines of one start say; None where they do not."""

    blocks: tuple[int, ...] = ()
    """KV blocks as they were printed, each start or rank one."""
    tokens: int | None = None
    """KV cache in tokens, the least over the ranks."""
    max_model_len: int | None = None
    concurrency: float | None = None
    """Requests of max_model_len that fit, as printed; with hybrid models not tokens / max_model_len."""
    kv_gib: tuple[float, ...] = ()
    """KV memory of each rank in GiB."""
    capture_sizes: tuple[int, ...] = ()
    """Batch sizes that graphs were captured for, ascending."""
    max_num_seqs: int | None = None
    """As the server says that it was given it."""
    max_num_batched_tokens: int | None = None
    announced: bool = False
    """It says that it listens; nothing of its answers."""

    def capacity_blocks(self, block_size: int) -> int | None:
        """The capacity in blocks of `block_size` tokens; None when no line tells."""
        if self.tokens is not None:
            return self.tokens // block_size
        if self.blocks and self.concurrency is None:
            return min(self.blocks)
        if self.max_model_len is not None and self.concurrency is not None:
            return int(self.max_model_len * self.concurrency / block_size)
        return None


def read_lines(lines: Sequence[str]) -> LogReading:
    """Read the lines of one start."""
    concurrency = _last(_CONCURRENCY, lines)
    tokens = _numbers(_all(_TOKENS, lines))
    arguments = [line for line in lines if any(sign in line for sign in _ARGS)]
    captured = [text for line in lines if "apture" in line for text in _CAPTURE.findall(line)]
    return LogReading(
        blocks=_numbers(_all(_BLOCKS, lines)),
        tokens=min(tokens) if tokens else None,
        max_model_len=whole(concurrency[0]) if concurrency else None,
        concurrency=real(concurrency[1].rstrip(".")) if concurrency else None,
        kv_gib=tuple(size for text in _all(_KV_MEMORY, lines) if (size := real(text)) is not None),
        capture_sizes=tuple(sorted(_numbers(captured[-1].split(",")))) if captured else (),
        max_num_seqs=_number(_SEQS, arguments),
        max_num_batched_tokens=_number(_BATCHED, arguments),
        announced=any(sign in line for line in lines for sign in _STARTED),
    )


def _all(pattern: re.Pattern[str], lines: Iterable[str]) -> list[str]:
    """The first number of each line; the second label of a line (# CPU blocks) is another memory."""
    return [found[1] for line in lines if (found := pattern.search(line))]


def _last(pattern: re.Pattern[str], lines: Sequence[str]) -> tuple[str, str] | None:
    found = [match for line in lines if (match := pattern.search(line))]
    return (found[-1][1], found[-1][2]) if found else None


def _number(pattern: re.Pattern[str], lines: Sequence[str]) -> int | None:
    found = _all(pattern, lines)
    return whole(found[-1]) if found else None


def _numbers(texts: Iterable[str]) -> tuple[int, ...]:
    return tuple(number for text in texts if (number := whole(text)) is not None)
