"""Data sets: files of every type, also under the name of another type."""

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from autotune.errors import UsageError
from autotune.load.workload.dataset import DATASET_TYPES, DatasetRequest, read_dataset
from tests.fuzz.choices import Choices, steered
from tests.fuzz.target import GOLDEN, Target, words_of

KINDS = (*(kind for kind in DATASET_TYPES if kind != "oasst1"), "oasst1")
SUFFIXES = (".json", ".jsonl", ".csv")
MOST = 50
WORDS = words_of("datasets")


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="autotune-fuzz-"))


def read_any(data: bytes) -> None:
    """Prompts, or a UsageError: nothing else comes out."""
    choices = Choices(data)
    kind, suffix = choices.one(KINDS), choices.one(SUFFIXES)
    path = _folder() / f"set{suffix}"
    path.write_bytes(choices.rest())
    with suppress(UsageError):
        found = read_dataset(DatasetRequest(type=kind, path=path, count=MOST))
        assert 1 <= len(found.prompts) <= MOST
        for prompt in found.prompts:
            assert isinstance(prompt.text, str)
            assert all(token >= 0 for token in prompt.token_ids)


def _seeds() -> list[bytes]:
    seeds = []
    for path in sorted((GOLDEN / "datasets").iterdir()):
        suffix = SUFFIXES.index(path.suffix)
        seeds += [steered(kind, suffix, body=path.read_bytes()[:6000]) for kind in range(len(KINDS))]
    return seeds


DATASETS = Target(
    name="data sets",
    law="prompts or a usage error, whatever the file holds",
    check=read_any,
    seeds=_seeds,
    words=WORDS,
)
