"""Target: one parser, what must hold for any bytes that it is given, and what to begin from."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"
WORDS = Path(__file__).parent / "words"
HURTING = ("9" * 30, "9" * 5000, "[" * 2000, '{"a":' * 400, "\0", "1e400", "NaN", "-1", "\ufeff", "²", "٣")


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """What is fuzzed."""

    name: str
    law: str
    """What holds whatever comes, for the table."""
    check: Callable[[bytes], None]
    """Raises for input that breaks the law; a refusal with its own error is no break."""
    seeds: Callable[[], Iterable[bytes]]
    """Real files to begin from."""
    words: tuple[bytes, ...] = ()
    """What the grammar knows, to be put in and taken out."""


def golden(kind: str, pattern: str = "*") -> tuple[bytes, ...]:
    """The golden files of a kind, in order of their names."""
    return tuple(path.read_bytes() for path in sorted((GOLDEN / kind).glob(pattern)) if path.is_file())


def words_of(name: str) -> tuple[bytes, ...]:
    """The words of a grammar, and those that hurt any reader: damage, depth, numbers beyond all bounds."""
    own = json.loads((WORDS / f"{name}.json").read_text(encoding="utf-8"))
    return tuple(word.encode() for word in (*own, *HURTING))


def text_of(data: bytes) -> str:
    """Bytes as the tool decodes a file: what is no UTF-8 comes as lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


def printed(data: bytes) -> str:
    """Bytes as the tool decodes what a program printed."""
    return data.decode("utf-8", "replace")
