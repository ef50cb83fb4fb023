"""Shell expansion: the words that one word of a script becomes when its variables are put in.

What nobody can tell without running the script, such as `$(...)`, stays as it is written and is not known.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, final

from autotune.engines.vllm.shell_stretches import Quoting, closing_bracket
from autotune.engines.vllm.shell_words import ShellWord

_NAME: Final = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_IN_BRACES: Final = re.compile(r"([A-Za-z_]\w*|[0-9]+|[@*])(\[[@*]\])?(?::?([-=?+])(.*))?", re.DOTALL)
_ARRAY: Final = re.compile(r"\$\{([A-Za-z_]\w*)\[@\]\}")
_DEEPEST: Final = 20
_LONGEST: Final = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """What a variable holds: one text, or the elements of an array."""

    texts: tuple[str, ...]
    known: bool = True
    """False where the script leaves it open: set under a condition, or by what another program says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One word as a program gets it."""

    text: str
    word: ShellWord
    """Where it comes from."""
    alone: bool
    """It is all that its word gives, so that the word can be replaced for it."""
    known: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    known: bool = True
    split: bool = False
    """Blanks in it separate words."""


@final
class Expansion:
    """Expands words; `value_of` gives the variable of a name, and says where nobody can tell it."""

    def __init__(self, value_of: Callable[[str], Value]) -> None:
        self._value_of = value_of

    def fields(self, word: ShellWord) -> tuple[Field, ...]:
        """The words that a word becomes: none for an empty variable, several for a list."""
        listed = self._elements(word)
        if listed is not None and listed.known:
            texts = listed.texts
            return tuple(Field(text=text, word=word, alone=len(texts) == 1, known=True) for text in texts)
        pieces = self._pieces(word)
        known = all(piece.known for piece in pieces)
        texts = tuple(_split(pieces))
        return tuple(Field(text=text, word=word, alone=len(texts) == 1, known=known) for text in texts)

    def whole(self, word: ShellWord) -> tuple[str, bool]:
        """A word that is not split, as in an assignment; and whether it is known."""
        pieces = self._pieces(word)
        text = "".join(piece.text for piece in pieces)
        return text[:_LONGEST], all(piece.known for piece in pieces) and len(text) <= _LONGEST

    def _elements(self, word: ShellWord) -> Value | None:
        found = _ARRAY.fullmatch(word.text)
        literal = any(stretch.quoting is Quoting.LITERAL for stretch in word.stretches)
        return None if found is None or literal else self._value_of(found[1])

    def _pieces(self, word: ShellWord) -> tuple[_Piece, ...]:
        made: list[_Piece] = []
        for stretch in word.stretches:
            if stretch.quoting is Quoting.LITERAL:
                made.append(_Piece(stretch.text))
            else:
                made.extend(self._parts(stretch.text, split=stretch.quoting is Quoting.BARE, depth=0))
        return tuple(made)

    def _parts(self, text: str, *, split: bool, depth: int) -> Iterator[_Piece]:
        at = 0
        while at < len(text):
            following = next((i for i in range(at, len(text)) if text[i] in "$`"), len(text))
            if following > at:
                yield _Piece(text[at:following])
            at = following
            if at < len(text):
                end = _end_of_reference(text, at)
                yield self._reference(text[at:end], split=split, depth=depth)
                at = end

    def _reference(self, text: str, *, split: bool, depth: int) -> _Piece:
        """One `$NAME`, `${...}`, `$(...)` or a lone sign."""
        if text == "$":
            return _Piece(text)
        unknown = _Piece(text, known=False)
        if text[0] == "`" or text.startswith("$(") or depth >= _DEEPEST:
            return unknown
        inside = text[2:-1] if text.startswith("${") else text[1:]
        found = _IN_BRACES.fullmatch(inside)
        if found is None:
            return unknown
        value = self._value_of(found[1])
        joined = " ".join(value.texts)
        if found[3] in {"-", "="} and value.known and not joined:
            parts = tuple(self._parts(_unquoted(found[4]), split=False, depth=depth + 1))
            value = Value(
                texts=("".join(part.text for part in parts),), known=all(part.known for part in parts)
            )
        elif found[3] == "+":
            return unknown
        if not value.known or len(joined) > _LONGEST:
            return unknown
        return _Piece(" ".join(value.texts), split=split)


def _unquoted(text: str) -> str:
    """A default's text; quotes in it protect blanks from being split, which nobody does here."""
    return text.replace('"', "").replace("'", "")


def _end_of_reference(text: str, at: int) -> int:
    """Behind the expansion that begins at `at`."""
    if text[at] == "`":
        end = text.find("`", at + 1)
        return len(text) if end < 0 else end + 1
    if text.startswith(("${", "$("), at):
        return min(closing_bracket(text, at + 2, "{}" if text[at + 1] == "{" else "()") + 1, len(text))
    name = _NAME.match(text, at + 1)
    return at + 1 if name is None else name.end()


def _split(pieces: tuple[_Piece, ...]) -> Iterator[str]:
    """Join the pieces, and part them at blanks that came out of variables."""
    current: str | None = None
    for piece in pieces:
        if not piece.split:
            current = (current or "") + piece.text
            continue
        if piece.text[:1].isspace() and current is not None:
            yield current
            current = None
        for index, part in enumerate(piece.text.split()):
            if index and current is not None:
                yield current
                current = None
            current = (current or "") + part
        if piece.text[-1:].isspace() and current is not None:
            yield current
            current = None
    if current is not None:
        yield current
