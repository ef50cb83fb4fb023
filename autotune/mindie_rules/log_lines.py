"""Lines of MindIE's logs of every generation, to recognise: block counts, started or not, starts in one file.

Sources: public logs of 1.0.RC2 to 2.2, MindIE's installation and trouble-shooting pages, and the public
source of MindIE-LLM (2.3 and 3.x). What these lines look like is printed by `log_printing`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from autotune.errors import LaunchCause
from autotune.foreign import whole
from autotune.mindie_rules.log_failures import first_failure

_STARTED = re.compile(
    r"daemon start(?:ed)? success(?:fully)?\b|\[Start mindie server\] \[success\]", re.IGNORECASE
)
_NOT_STARTED = re.compile(r"\[Start mindie server\] \[fail\]|\breceived exit signal", re.IGNORECASE)
_BEGINS = re.compile(r"\bLog started at \[|\bg_mainPid\s*=|ConfigManager: Load Config from ")
_PROCESS = re.compile(
    r"\[\d{4}-\d\d-\d\d[^\]]*\]\s*\[(\d+)\]"  # 1.0.RC3 and later, also behind a container's own stamp
    r"|^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* (\d+) [a-z]+ "  # 1.0.RC1 and RC2
    r"|\bpid\s*[:=]\s*(\d+)",
    re.IGNORECASE,
)
_RANK = re.compile(r"(?<![^\W_])rank(?:_?id)?['\"]?\s*[:=]?\s*(\d+)", re.IGNORECASE)
_MODELS_STATUS = re.compile(r"uri is /v1/models\] \[status code: (\d+)\]")

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SHAPE = r"k_caches?(?:\[0\])+\.shape\s*[=:]\s*torch\.Size\(\["
_CACHE_SHAPE = re.compile(_SHAPE + r"([\d,\s]+)\]")
_SCHEDULED: Final = (
    re.compile(r"\bNPU blocks\s*=\s*(\d+)(?![\d,]\d)"),
    re.compile(
        r"(?<![a-z])npu_?Block_?Num['\"]?\s*[:=：]\s*(?:(\d+)(?![\d,]\d)|'(\d+)'|\"(\d+)\")", re.IGNORECASE
    ),
)
"""What the scheduler has: one or two fewer than the cache's shape says, since the last are reserved."""
_ALLOCATED: Final = (
    re.compile(r"\bnum_npu_blocks['\"]?\s*[:=]\s*(\d+)"),
    re.compile(_SHAPE + r"\s*(\d+)\s*[,\]]"),
    re.compile(r"\binitial KV blocks\s*[:=]?\s*(\d+)", re.IGNORECASE),
)
_DIMENSIONS: Final = 4
_NZ_TILE: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheShape:
    """A printed KV-cache tensor; only its first number means the same in both layouts."""

    dimensions: tuple[int, int, int, int]

    @property
    def blocks(self) -> int:
        """KV blocks that are allocated."""
        return self.dimensions[0]

    @property
    def layout(self) -> str:
        """ND is [blocks, block size, heads, head size]; NZ is [blocks, heads x size / 16, block size, 16]."""
        return "NZ" if self.dimensions[3] == _NZ_TILE else "ND"

    @property
    def block_size(self) -> int:
        """Tokens of a block."""
        return self.dimensions[2] if self.layout == "NZ" else self.dimensions[1]

    @property
    def kv_heads_by_head_size(self) -> int:
        """KV heads on a card times head size."""
        other = self.dimensions[1] if self.layout == "NZ" else self.dimensions[2]
        return other * self.dimensions[3]


@dataclass(frozen=True, kw_only=True, slots=True)
class LogReading:
    """What the lines of one start say."""

    blocks: int | None
    """KV blocks: least over the ranks, each rank's last."""
    shape: CacheShape | None
    started: bool
    """The success line stands there and no failure to start; says nothing of the model's answers."""
    models_status: int | None
    """HTTP status of the last GET /v1/models; 404 after a success line is a service without a model."""
    cause: LaunchCause | None
    """Class of the first failure; None when no line tells of one."""
    error_lines: tuple[str, ...]
    """The first lines that say why."""


def read_lines(lines: Iterable[str]) -> LogReading:
    """Read the lines of the last start among them; a log file may hold several starts."""
    last = last_start(tuple(_COLOURS.sub("", line) if "\x1b" in line else line for line in lines))
    failure = first_failure(last)
    return LogReading(
        blocks=block_count(last),
        shape=cache_shape(last),
        started=has_started(last),
        models_status=_models_status(last),
        cause=None if failure is None else failure.cause,
        error_lines=() if failure is None else failure.lines,
    )


def last_start(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines of the last start: from the last line that only a beginning prints."""
    begins = [number for number, line in enumerate(lines) if _may_begin(line) and _BEGINS.search(line)]
    first = [number for number in begins if number - 1 not in begins]
    return tuple(lines[first[-1] :] if first else lines)


def _may_begin(line: str) -> bool:
    return "started at" in line or "g_mainPid" in line or "Load Config" in line


def is_start_line(line: str) -> bool:
    """Whether this line says that the daemon is up; another writer's text may be glued to its front."""
    return "success" in line.lower() and _STARTED.search(line) is not None


def has_started(lines: Sequence[str]) -> bool:
    """Whether the daemon came up and no line after that says that it went."""
    up = False
    for line in lines:
        if is_start_line(line):
            up = True
        elif ("[fail]" in line or "signal" in line) and _NOT_STARTED.search(line):
            up = False
    return up


def block_count(lines: Sequence[str]) -> int | None:
    """KV blocks that the lines tell of: the last of each rank, the least over the ranks.

    What the scheduler reports comes before what was allocated, which counts the reserved blocks too.
    A warm-up prints a small count first, so the last counts.
    """
    for patterns in (_SCHEDULED, _ALLOCATED):
        for pattern in patterns:
            ranks = _last_by_rank(lines, pattern)
            if ranks:
                return min(ranks.values())
    return None


def cache_shape(lines: Sequence[str]) -> CacheShape | None:
    """The last cache shape that the lines print."""
    for line in reversed(lines):
        found = _CACHE_SHAPE.search(line)
        numbers = _numbers(re.findall(r"\d+", found[1])) if found else []
        if len(numbers) == _DIMENSIONS:
            blocks, second, third, last = numbers
            return CacheShape(dimensions=(blocks, second, third, last))
    return None


def _last_by_rank(lines: Sequence[str], pattern: re.Pattern[str]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for line in lines:
        told = (
            (found[found.lastindex or 0] for found in pattern.finditer(line))
            if _tells_of_blocks(line)
            else ()
        )
        counts = [count for count in _numbers(told) if count]  # 0 is what a rank says that has failed
        if counts:
            ranks[_rank_of(line)] = min(counts)
    return ranks


def _numbers(texts: Iterable[str]) -> list[int]:
    return [number for text in texts if (number := whole(text)) is not None]


def _tells_of_blocks(line: str) -> bool:
    return "lock" in line or "k_cache" in line


def _rank_of(line: str) -> str:
    rank, process = _RANK.search(line), _PROCESS.search(line)
    if rank:
        return f"rank {rank[1]}"
    return f"process {process[process.lastindex or 0]}" if process else ""


def _models_status(lines: Sequence[str]) -> int | None:
    found = _numbers(status for line in lines for status in _MODELS_STATUS.findall(line))
    return found[-1] if found else None
