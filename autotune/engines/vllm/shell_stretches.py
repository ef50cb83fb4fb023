"""Shell stretches: the quoted, escaped and bare parts that a word of a script is made of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, unique


@unique
class Quoting(Enum):
    """How a stretch of a word is protected."""

    BARE = "bare"
    DOUBLE = "double"
    """Expanded, and not split."""
    LITERAL = "literal"
    """In single quotes, or behind a backslash: taken as it is."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring characters of a word that are protected alike, without their quotes."""

    text: str
    quoting: Quoting


def joined(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Neighbours that are protected alike as one."""
    before: Stretch | None = None
    for stretch in stretches:
        if before is not None and before.quoting is stretch.quoting:
            before = Stretch(before.text + stretch.text, before.quoting)
            continue
        if before is not None:
            yield before
        before = stretch
    if before is not None:
        yield before


def one_stretch(text: str, at: int) -> tuple[Stretch, int]:
    """One stretch in single quotes, one escape, one expansion, or one character."""
    sign = text[at]
    if sign == "\\":
        return Stretch(text[at + 1 : at + 2], Quoting.LITERAL), at + 2
    if sign == "'":
        end = _closing(text, "'", at + 1)
        return Stretch(text[at + 1 : end], Quoting.LITERAL), end + 1
    if sign == "`":
        end = _closing(text, "`", at + 1) + 1
        return Stretch(text[at:end], Quoting.BARE), end
    if text.startswith(("${", "$("), at):
        end = closing_bracket(text, at + 2, "{}" if text[at + 1] == "{" else "()") + 1
        return Stretch(text[at:end], Quoting.BARE), end
    return Stretch(sign, Quoting.BARE), at + 1


def double_quoted(text: str, at: int) -> tuple[list[Stretch], int]:
    """What stands in double quotes; a word of nothing else is there even when it is empty."""
    parts = [Stretch("", Quoting.DOUBLE)]
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in {'"', "\\", "$", "`", "\n"}:
            parts.append(Stretch("" if text[at + 1] == "\n" else text[at + 1], Quoting.LITERAL))
            at += 2
            continue
        inner = text.startswith("$(", at)
        end = min(closing_bracket(text, at + 2, "()") + 1, len(text)) if inner else at + 1
        parts.append(Stretch(text[at:end], Quoting.DOUBLE))
        at = end
    return parts, at + 1


def _closing(text: str, sign: str, at: int) -> int:
    end = text.find(sign, at)
    return len(text) if end < 0 else end


def closing_bracket(text: str, at: int, pair: str) -> int:
    """Where the bracket that is open at `at` closes; the end of the text when it does not."""
    depth = 1
    while at < len(text):
        depth += {pair[0]: 1, pair[1]: -1}.get(text[at], 0)
        if depth == 0:
            return at
        at += 1
    return at
