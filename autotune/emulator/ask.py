"""Ask: what an inference request wants, whatever interface it came through."""

import random
import zlib
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from autotune.simulator.lengths import LengthShape

_BYTES_A_TOKEN: Final = 4
_TABLE: Final = 4093


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """One inference request after its checks."""

    identity: str
    """Id that the reply carries."""
    prompt: str
    prompt_tokens: int
    prompt_hash: int
    max_tokens: int
    """Most tokens that the client wants."""
    stream: bool = False
    exact: bool = False
    """True when no end of sequence may come before `max_tokens` (ignore_eos)."""
    min_tokens: int = 0
    details: bool = False
    full_text: bool = False
    """True when the reply repeats the prompt (return_full_text)."""
    seed: int = 0
    timeout: float | None = None
    """Seconds that the client itself sets."""
    output_name: str = "output0"
    """Name of the output tensor, for token ids."""


def count_tokens(text: str) -> int:
    """Tokens of a prompt: one for four bytes of its UTF-8, rounded up, at least 1.

    English comes to four characters a token, Chinese to three quarters of a token a character.
    """
    return max(1, -(-len(text.encode()) // _BYTES_A_TOKEN))


def hash_text(text: str, seed: int) -> int:
    """A number below 2**32 that a prompt and a seed always give again."""
    return zlib.crc32(text.encode(), seed & 0xFFFFFFFF)


def hash_ids(ids: list[int], seed: int) -> int:
    """The same for a prompt of token ids."""
    return zlib.crc32(repr(ids).encode(), seed & 0xFFFFFFFF)


class ReplyLengths:
    """Draws the natural length of a reply from the hash of its prompt.

    Gamma-distributed as the lengths of the simulator's synthetic data sets are; their mean after the cut
    at the shape's maximum is the shape's mean, and longer ones come only where a request allows them.
    """

    def __init__(self, shape: LengthShape, seed: int) -> None:
        alpha = 1 / shape.output_spread**2
        draw = random.Random(seed).gammavariate  # noqa: S311 - lengths, no secret
        draws = [draw(alpha, 1 / alpha) for _ in range(_TABLE)]
        scale = _scale(sorted(draws), shape)
        self._lengths = [max(1, round(unit * scale)) for unit in draws]

    def natural(self, prompt_hash: int) -> int:
        """Tokens until the end of sequence, at least 1."""
        return self._lengths[(prompt_hash * 2654435761 >> 8) % _TABLE]


def _scale(units: list[float], shape: LengthShape) -> float:
    """The factor with which the mean of the sorted units, each cut at the maximum, is the shape's."""
    sums = [0.0, *accumulate(units)]
    most = shape.max_output_tokens
    low, high = 0.0, 64.0 * most
    for _ in range(50):
        middle = (low + high) / 2
        below = bisect_left(units, most / middle)
        if middle * sums[below] + most * (len(units) - below) < shape.output_tokens * len(units):
            low = middle
        else:
            high = middle
    return high
