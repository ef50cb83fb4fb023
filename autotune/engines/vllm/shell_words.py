"""Shell words: the simple commands of a script as words, each with its place in the text.

Only what a script needs whose flags are read and spliced: quotes, escapes, comments, operators, redirections,
here-documents, expansions in braces and brackets, arrays, line ends of either kind. Nothing is expanded, and
nothing is run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from autotune.engines.vllm.shell_stretches import (
    Quoting,
    Stretch,
    closing_bracket,
    double_quoted,
    joined,
    one_stretch,
)

_OPERATORS: Final = ";&|()<>\n"
_BLANKS: Final = " \t\r"
_REDIRECTIONS: Final = "<>"
_GOES_ON: Final = frozenset({"&&", "||", "|"})
"""Operators behind which a line may end."""
_ARRAY: Final = re.compile(r"([A-Za-z_]\w*)(\+?)=")


@dataclass(frozen=True, slots=True)
class ShellWord:
    """One word of a script."""

    stretches: tuple[Stretch, ...]
    start: int
    end: int
    """Characters of the script that it takes, `end` not included."""
    left_open: bool = False
    """The text ends inside its quote, its bracket or its escape."""

    @property
    def text(self) -> str:
        """Without its quotes and escapes."""
        return "".join(stretch.text for stretch in self.stretches)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShellCommand:
    """Words up to the next operator, without redirections."""

    words: tuple[ShellWord, ...]
    after: str = ""
    """The operator before it, such as `&&`; empty at the beginning of a line."""
    array: str | None = None
    """The name of the array whose elements these are, instead of a command; with a + where they are added."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The words as the program gets them, expansions not made."""
        return tuple(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class _Operator:
    sign: str
    at: int


def shell_commands(text: str) -> tuple[ShellCommand, ...]:
    """Every simple command of a script, and every array, in order; empty commands are left out."""
    return tuple(_commands(text))


def _commands(text: str) -> Iterator[ShellCommand]:
    words: list[ShellWord] = []
    after, skip = "", False
    items = _items(text)
    for item in items:
        if isinstance(item, ShellWord):
            if not skip:
                words.append(item)
            skip = False
        elif item.sign in _REDIRECTIONS:
            _drop_descriptor(text, words)
            skip = True
        elif item.sign == "(" and (name := _array_name(words, item)):
            words.pop()
            yield ShellCommand(words=_elements(items), array=name)
        elif not skip:  # the & of 2>&1 belongs to its redirection
            if words:
                yield ShellCommand(words=tuple(words), after=after)
                words, after = [], ""
            goes_on = item.sign == "\n" and after in _GOES_ON
            after = after if goes_on else "" if item.sign == "\n" else after + item.sign
    if words:
        yield ShellCommand(words=tuple(words), after=after)


def _array_name(words: list[ShellWord], bracket: _Operator) -> str | None:
    """NAME of `NAME=(`, NAME+ of `NAME+=(`."""
    found = _ARRAY.fullmatch(words[-1].text) if words and words[-1].end == bracket.at else None
    return None if found is None else found[1] + found[2]


def _elements(items: Iterator[ShellWord | _Operator]) -> tuple[ShellWord, ...]:
    """Words up to the closing bracket, over lines."""
    words: list[ShellWord] = []
    for item in items:
        if isinstance(item, ShellWord):
            words.append(item)
        elif item.sign == ")":
            break
    return tuple(words)


def _drop_descriptor(text: str, words: list[ShellWord]) -> None:
    """Drop the 2 of `2>log`: it stands right before the sign."""
    if words and words[-1].text.isdecimal() and text[words[-1].end : words[-1].end + 1] in {"<", ">"}:
        words.pop()


def _items(text: str) -> Iterator[ShellWord | _Operator]:
    """Words, and operators as single characters; bodies of here-documents are passed over."""
    at = 0
    ends: list[tuple[str, bool]] = []
    while at < len(text):
        sign = text[at]
        if width := _between(text, at):
            at += width
        elif text.startswith("<<", at) and not text.startswith("<<<", at):
            yield _Operator("<", at)
            dash = text.startswith("-", at + 2)
            at = _after_blanks(text, at + 2 + dash)
            word = _word(text, at)
            if word.end > at:
                yield word
                ends.append((word.text, dash))
                at = word.end
        elif text.startswith("&>", at):
            yield _Operator(">", at)
            at += 2
        elif text.startswith(("<(", ">("), at):
            end = closing_bracket(text, at + 2, "()") + 1
            yield ShellWord((Stretch(text[at:end], Quoting.BARE),), at, min(end, len(text)), end > len(text))
            at = end
        elif sign in _OPERATORS:
            yield _Operator(sign, at)
            at += 1
            while sign == "\n" and ends:
                at = _after_document(text, at, *ends.pop(0))
        else:
            word = _word(text, at)
            yield word
            at = word.end


def _between(text: str, at: int) -> int:
    """Characters that only stand between words: a blank, a comment, a line end that goes on."""
    if text[at] in _BLANKS:
        return 1
    if text[at] == "#":
        end = text.find("\n", at)
        return (len(text) if end < 0 else end) - at
    return _continuation(text, at)


def _continuation(text: str, at: int) -> int:
    """Characters of a line end that a backslash takes away; 0 when there is none here."""
    return next((len(end) for end in ("\\\n", "\\\r\n") if text.startswith(end, at)), 0)


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _after_document(text: str, at: int, end: str, dash: bool) -> int:
    """Where the script goes on behind a here-document; `at` itself when it never ends, so that it is none."""
    place = at
    while place < len(text):
        stop = text.find("\n", place)
        stop = len(text) if stop < 0 else stop
        line = text[place:stop].rstrip("\r")
        if (line.lstrip("\t") if dash else line) == end:
            return stop
        place = stop + 1
    return at


def _word(text: str, start: int) -> ShellWord:
    stretches: list[Stretch] = []
    at = start
    while at < len(text) and text[at] not in _BLANKS and text[at] not in _OPERATORS:
        if width := _continuation(text, at):
            at += width
            continue
        if text[at] == '"':
            inside, at = double_quoted(text, at + 1)
            stretches.extend(inside)
        else:
            stretch, at = one_stretch(text, at)
            stretches.append(stretch)
    return ShellWord(tuple(joined(stretches)), start, min(at, len(text)), left_open=at > len(text))
