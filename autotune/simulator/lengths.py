"""Lengths: the prompts and replies of a data set, as token counts; repeatable by seed."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

from autotune.errors import UsageError

_LEAST_SPREAD = 1e-3
"""Below it all draws are the same."""


@dataclass(frozen=True, slots=True)
class Request:
    """Token counts of one request."""

    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Lengths:
    """A data set of requests, sent in order and over again."""

    requests: tuple[Request, ...]

    def __post_init__(self) -> None:
        if not self.requests:
            raise UsageError("a data set needs at least one request")

    @property
    def mean_prompt(self) -> float:
        """Mean prompt tokens."""
        return sum(request.prompt_tokens for request in self.requests) / len(self.requests)

    @property
    def mean_output(self) -> float:
        """Mean output tokens."""
        return sum(request.output_tokens for request in self.requests) / len(self.requests)

    @property
    def longest(self) -> int:
        """Most tokens of one request, prompt and output together."""
        return max(request.prompt_tokens + request.output_tokens for request in self.requests)

    def endless(self) -> Iterator[Request]:
        """The requests in order, looped."""
        return cycle(self.requests)


@dataclass(frozen=True, kw_only=True, slots=True)
class LengthShape:
    """Gamma-distributed lengths, cut off at a maximum, that keep the wanted means."""

    input_tokens: float
    output_tokens: float
    max_output_tokens: int
    max_input_tokens: int | None = None
    input_spread: float = 0.25
    """Standard deviation over mean of the prompts."""
    output_spread: float = 0.95
    """The same of the replies, before the cut. The default is that of the llama3-8b preset: with a mean of
    346 and a maximum of 512 over a third of the replies run to the maximum."""


def synthetic_lengths(shape: LengthShape, *, count: int = 1319, seed: int = 1) -> Lengths:
    """Draw a data set whose mean lengths are those of `shape` to within half a token.

    Raises UsageError when the mean output is above the maximum.
    """
    if not 1 <= shape.output_tokens <= shape.max_output_tokens:
        raise UsageError("the mean output must lie between 1 and the maximum output")
    generator = random.Random(seed)  # noqa: S311 - a data set, no secret
    prompts = _unit_draws(generator, shape.input_spread, count)
    outputs = _unit_draws(generator, shape.output_spread, count)
    prompt_tokens = _scaled(prompts, mean=shape.input_tokens, most=shape.max_input_tokens)
    output_tokens = _scaled(outputs, mean=shape.output_tokens, most=shape.max_output_tokens)
    return Lengths(tuple(Request(*pair) for pair in zip(prompt_tokens, output_tokens, strict=True)))


def _unit_draws(generator: random.Random, spread: float, count: int) -> list[float]:
    if spread < _LEAST_SPREAD:
        return [1.0] * count
    alpha = 1 / spread**2
    return [generator.gammavariate(alpha, 1 / alpha) for _ in range(count)]


def _scaled(draws: list[float], *, mean: float, most: int | None) -> list[int]:
    """Scale the draws so that their mean after cutting and rounding is `mean`."""
    if mean == most:
        return [most] * len(draws)
    scale = _scale(draws, mean * len(draws), most)
    whole = []
    carry = 0.0
    for draw in draws:
        wanted = draw * scale if most is None else min(draw * scale, most)
        tokens = max(1, math.floor(wanted + carry + 0.5))
        tokens = tokens if most is None else min(tokens, most)
        carry += wanted - tokens
        whole.append(tokens)
    return whole


def _scale(draws: list[float], total: float, most: int | None) -> float:
    """The factor at which the draws, cut at `most`, add up to `total`."""
    rest = sum(draws)
    if most is None:
        return total / rest
    for cut, draw in enumerate(sorted(draws, reverse=True)):
        scale = (total - cut * most) / rest
        if draw * scale <= most:
            return scale
        rest -= draw
    raise AssertionError("the mean is below the maximum")
