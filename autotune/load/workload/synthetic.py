"""Synthetic prompts: lengths by distribution, words and lengths by seed."""

import random
from dataclasses import dataclass

from autotune.load.workload.lengths import Lengths
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.words import WordPool

_SMALLEST_ID, _LARGEST_ID = 1000, 30000
"""Token ids that every usual vocabulary has and that are no special tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SyntheticSpec:
    """How long prompts and replies are, and how many different prompts there are."""

    input_tokens: Lengths
    output_tokens: Lengths
    count: int = 1000
    seed: int = 1


def synthetic_prompts(spec: SyntheticSpec, *, token_ids: bool = False) -> tuple[Prompt, ...]:
    """The prompts of a spec: the same for the same seed, on every host."""
    lengths = random.Random(f"lengths {spec.seed}")  # noqa: S311 - repeatable on purpose
    words = random.Random(f"words {spec.seed}")  # noqa: S311 - repeatable on purpose
    pool = WordPool(words)
    prompts = []
    for index in range(spec.count):
        size, output = spec.input_tokens.draw(lengths), spec.output_tokens.draw(lengths)
        ids = tuple(words.randint(_SMALLEST_ID, _LARGEST_ID) for _ in range(size)) if token_ids else ()
        text = "" if token_ids else pool.text_of(size)
        prompts.append(
            Prompt(
                text=text,
                token_ids=ids,
                output_tokens=output,
                input_tokens=len(ids) or None,
                wanted_tokens=size,
                identity=str(index),
            )
        )
    return tuple(prompts)
