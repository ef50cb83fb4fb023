"""Dataset: prompts by the type of the set, chosen, filtered and in order."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from autotune.errors import UsageError
from autotune.load.workload.lengths import Fixed, Lengths
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.synthetic import SyntheticSpec, synthetic_prompts
from autotune.load.workload.token_count import Counter, estimated_tokens
from autotune.load.workload.workload import shuffled

_QUESTION_SETS = ("gsm8k", "humaneval", "boolq", "mtbench", "jsonl")
_READERS = {
    "truthfulqa": ("exams", "read_truthfulqa"),
    "ceval": ("exams", "read_ceval"),
    "mmlu": ("exams", "read_mmlu"),
    "oasst1": ("conversations", "read_oasst1"),
    "sharegpt": ("conversations", "read_sharegpt"),
    "token_ids": ("token_ids", "read_token_ids"),
}
"""Module and function by the type of the set."""
DATASET_TYPES = ("synthetic", *_QUESTION_SETS, *_READERS)


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasetRequest:
    """Which prompts are wanted."""

    type: str
    path: Path | None = None
    input_tokens: Lengths | None = None
    """For a synthetic set without a file."""
    output_tokens: Lengths | None = None
    """Lengths to ask for; drawn by seed. None leaves it to the set or the workload."""
    shortest_input: int | None = None
    longest_input: int | None = None
    """Prompts outside are left out; counted with `count_tokens`."""
    count: int | None = None
    """At most so many prompts: of a file the first ones, of a synthetic set so many are made."""
    seed: int = 1
    shuffle: bool = False
    as_token_ids: bool = False
    """Synthetic prompts as token ids, for the apis that take nothing else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset:
    """The prompts, and what a person should know about them."""

    prompts: tuple[Prompt, ...]
    notices: tuple[str, ...] = ()


def read_dataset(request: DatasetRequest, *, count_tokens: Counter = estimated_tokens) -> Dataset:
    """Read or make the prompts. Raises UsageError when the files are not what the type says."""
    if request.type == "synthetic":
        return Dataset(prompts=_synthetic(request))
    if request.path is None:
        raise UsageError(f"a {request.type} data set needs a path", hint="--dataset PATH")
    prompts = _prompts_of(request.path, request.type)
    kept = _fitting(prompts, request, count_tokens)
    if request.shuffle:
        kept = shuffled(kept, request.seed)
    kept = kept[: request.count]
    if request.output_tokens is not None:
        source = random.Random(f"lengths {request.seed}")  # noqa: S311 - repeatable on purpose
        lengths = request.output_tokens
        kept = tuple(replace(prompt, output_tokens=lengths.draw(source)) for prompt in kept)
    if not kept:
        raise UsageError(
            f"the data set {request.path} holds no prompt that fits", hint="check type and lengths"
        )
    return Dataset(prompts=kept, notices=_notices(request, prompts, kept))


def _prompts_of(path: Path, kind: str) -> tuple[Prompt, ...]:
    """Only the reader of this kind is imported."""
    if kind in _QUESTION_SETS:
        from autotune.load.workload.datasets.questions import read_questions

        return read_questions(path, kind)
    if kind not in _READERS:
        raise UsageError(f"unknown data set type {kind!r}", hint=f"one of {', '.join(DATASET_TYPES)}")
    module, function = _READERS[kind]
    read: Callable[[Path], tuple[Prompt, ...]] = getattr(
        import_module(f"autotune.load.workload.datasets.{module}"), function
    )
    return read(path)


def _synthetic(request: DatasetRequest) -> tuple[Prompt, ...]:
    inputs, outputs, count = request.input_tokens, request.output_tokens, request.count
    if request.path is not None:
        from autotune.load.workload.datasets.synthetic_config import read_synthetic_config

        config = read_synthetic_config(request.path)
        if config.pairs:
            return _of_pairs(config.pairs, request)
        inputs, outputs = config.input_tokens or inputs, config.output_tokens or outputs
        count = count or config.count
    if inputs is None or outputs is None:
        raise UsageError(
            "a synthetic data set needs input and output lengths", hint="--input-tokens N --output-tokens N"
        )
    spec = SyntheticSpec(input_tokens=inputs, output_tokens=outputs, seed=request.seed)
    return synthetic_prompts(replace(spec, count=count) if count else spec, token_ids=request.as_token_ids)


def _of_pairs(pairs: tuple[tuple[int, int], ...], request: DatasetRequest) -> tuple[Prompt, ...]:
    prompts: list[Prompt] = []
    for number, (size, output) in enumerate(pairs[: request.count]):
        spec = SyntheticSpec(
            input_tokens=Fixed(tokens=size),
            output_tokens=Fixed(tokens=output),
            count=1,
            seed=1_000_003 * request.seed + number,
        )
        made = synthetic_prompts(spec, token_ids=request.as_token_ids)
        prompts.append(replace(made[0], identity=str(number)))
    return tuple(prompts)


def _fitting(
    prompts: tuple[Prompt, ...], request: DatasetRequest, count_tokens: Counter
) -> tuple[Prompt, ...]:
    if request.shortest_input is None and request.longest_input is None:
        return prompts
    low, high = request.shortest_input or 0, request.longest_input or float("inf")

    def size(prompt: Prompt) -> int:
        return len(prompt.token_ids) or count_tokens(prompt.text)

    return tuple(prompt for prompt in prompts if low <= size(prompt) <= high)


def _notices(
    request: DatasetRequest, prompts: tuple[Prompt, ...], kept: tuple[Prompt, ...]
) -> tuple[str, ...]:
    notices = []
    path = request.path
    if path is not None and path.is_dir() and request.type in _QUESTION_SETS:
        from autotune.load.workload.datasets.files import both_halves, files_of, rows_suffix

        files = files_of(path, rows_suffix(path, ".jsonl", ".json"))
        if both_halves(files):
            names = ", ".join(str(file.relative_to(path)) for file in files)
            notices.append(
                f"{path} holds train and test ({names}): {len(prompts)} prompts; name a file for one"
            )
    if len({(prompt.text, prompt.token_ids) for prompt in kept}) < len(kept):
        notices.append(f"{request.path}: prompts repeat; a prefix cache makes such a test look too fast")
    return tuple(notices)
