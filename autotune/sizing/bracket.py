"""The bracket: blocks and the lengths of requests -> where to look for max_batch_size.

Source: MindIE performance tuning guide. Its worked example (LLaMA3-8B, two cards, 2176 blocks,
186 tokens in, 346 out on average, 512 at most) gives 362 to 1088, start 435, prefill 217.
"""

import math

from autotune.errors import UsageError
from autotune.model.bracket import Bracket, RequestBlocks
from autotune.sizing.term import Term

PREFILL_TOKENS_CAP = 8192
"""The guide's usual upper bound of maxPrefillTokens."""


def request_blocks(
    *, input_tokens: float, output_tokens: float, max_output_tokens: float, block_size: int = 128
) -> RequestBlocks:
    """Blocks of the shortest, the mean and the longest request; input and output are rounded up apart.

    Raises UsageError for lengths that can't be.
    """
    if min(input_tokens, output_tokens, max_output_tokens, block_size) <= 0:
        raise UsageError("lengths and block size must be above zero")
    if output_tokens > max_output_tokens:
        raise UsageError(
            f"a mean output of {output_tokens:g} tokens is above the longest, {max_output_tokens:g}",
            hint="--max-output-tokens is the service's cap on generated tokens",
        )
    prompt = math.ceil(input_tokens / block_size)
    return RequestBlocks(
        min_blocks=prompt,
        mean_blocks=prompt + math.ceil(output_tokens / block_size),
        max_blocks=prompt + math.ceil(max_output_tokens / block_size),
    )


def bracket(*, blocks: int, request: RequestBlocks, source: str) -> Bracket:
    """Low, start and high: all requests at their longest, at their mean, at their shortest.

    `source` is the BlockSource value of `blocks`. Raises UsageError when there are no blocks.
    """
    if blocks < 1:
        raise UsageError(f"{blocks} blocks hold no request")
    start = max(1, blocks // request.mean_blocks)
    return Bracket(
        low=max(1, blocks // request.max_blocks),
        start=start,
        high=max(1, blocks // request.min_blocks),
        start_prefill=prefill_batch(start),
        blocks=blocks,
        source=source,
    )


def prefill_batch(max_batch_size: int) -> int:
    """Half, and never 0: to MindIE 0 means `as many as maxBatchSize`."""
    return max(1, max_batch_size // 2)


def prefill_tokens(*, prefill_batch: int, mean_input_tokens: float, max_input_token_len: int) -> int:
    """Prefill batch x mean input, at most 8192 and at least what one longest prompt needs."""
    product = math.ceil(prefill_batch * mean_input_tokens)
    return max(min(product, PREFILL_TOKENS_CAP), max_input_token_len)


def bracket_terms(
    *,
    blocks: int,
    input_tokens: float,
    output_tokens: float,
    max_output_tokens: float,
    block_size: int = 128,
) -> tuple[Term, ...]:
    """Every step from lengths to bracket."""
    request = request_blocks(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        max_output_tokens=max_output_tokens,
        block_size=block_size,
    )
    found = bracket(blocks=blocks, request=request, source="")
    prompt = f"ceil({input_tokens:g} / {block_size})"
    return (
        Term(name="min_blocks", value=request.min_blocks, formula=prompt),
        Term(
            name="mean_blocks",
            value=request.mean_blocks,
            formula=f"{prompt} + ceil({output_tokens:g} / {block_size})",
        ),
        Term(
            name="max_blocks",
            value=request.max_blocks,
            formula=f"{prompt} + ceil({max_output_tokens:g} / {block_size})",
        ),
        _at_least_one("low", blocks, request.max_blocks),
        _at_least_one("start", blocks, request.mean_blocks),
        _at_least_one("high", blocks, request.min_blocks),
        _at_least_one("start_prefill", found.start, 2),
    )


def _at_least_one(name: str, whole: int, part: int) -> Term:
    """A quotient that is never 0; where it would be, the formula says so."""
    formula = f"floor({whole} / {part})"
    if whole < part:
        return Term(name=name, value=1, formula=f"max(1, {formula})")
    return Term(name=name, value=whole // part, formula=formula)
