"""Workload: the endless, repeatable row of prompts that the clients send."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autotune.errors import UsageError
from autotune.load.workload.prompt import Prompt


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """Sampling values sent with each request; None is not sent."""

    ignore_eos: bool = False
    do_sample: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    seed: int | None = None

    def values(self) -> dict[str, bool | float]:
        """What is set of the values that every interface and tool calls by these names; not `do_sample`."""
        named = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "repetition_penalty": self.repetition_penalty,
            "seed": self.seed,
            "ignore_eos": self.ignore_eos or None,
        }
        return {name: value for name, value in named.items() if value is not None}

    def greedy_values(self) -> dict[str, bool | float]:
        """The same for interfaces without `do_sample`: there temperature 0 says that nothing is drawn."""
        return self.values() | ({"temperature": 0.0} if self.do_sample is False else {})


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """Prompts in a fixed order, looped; later passes are salted so that no prefix cache can know them."""

    prompts: tuple[Prompt, ...]
    max_output_tokens: int
    sampling: Sampling = Sampling()
    salted: bool = True

    def __post_init__(self) -> None:
        if not self.prompts:
            raise UsageError(
                "the data set holds no prompt", hint="check the path and the type of the data set"
            )

    def __len__(self) -> int:
        """How many different prompts there are."""
        return len(self.prompts)

    @property
    def asks_for_one_length(self) -> bool:
        """Whether every request may generate equally many tokens."""
        return len({self.asked_tokens(index) for index in range(len(self))}) == 1

    def prompt(self, index: int) -> Prompt:
        """Prompt number `index` of the endless row."""
        turn, place = divmod(index, len(self.prompts))
        prompt = self.prompts[place]
        if prompt.token_ids and turn and self.salted:
            return replace(prompt, token_ids=_salted_ids(prompt.token_ids, turn))
        return replace(prompt, text=self.salt(turn) + prompt.text) if self.salt(turn) else prompt

    def salt(self, turn: int) -> str:
        """What stands before the prompts of a pass over the data set; nothing in the first one."""
        return f"{turn}. " if turn and self.salted else ""

    def asked_tokens(self, index: int) -> int:
        """Most tokens that request `index` may generate."""
        wanted = self.prompts[index % len(self.prompts)].output_tokens
        return self.max_output_tokens if wanted is None else min(wanted, self.max_output_tokens)


def shuffled(prompts: Sequence[Prompt], seed: int) -> tuple[Prompt, ...]:
    """The same prompts in an order that the seed alone decides."""
    order = list(prompts)
    random.Random(f"order {seed}").shuffle(order)  # noqa: S311 - repeatable on purpose
    return tuple(order)


def _salted_ids(ids: tuple[int, ...], turn: int) -> tuple[int, ...]:
    """Another first token, so that the first block already differs."""
    return (1000 + (ids[0] + 7919 * turn) % 29000, *ids[1:])
