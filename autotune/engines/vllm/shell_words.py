"""Words of a shell script with their places, so that one can be replaced and every other byte stays.

Quotes, escapes, comments and continued lines are read as a POSIX shell reads them; expansions are kept as
they are written. Here-documents are not understood: their lines are read as words too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_OPERATORS: Final = ";&|()<>\n"
_BLANKS: Final = " \t\r"
_REDIRECTIONS: Final = "<>"


@dataclass(frozen=True, slots=True)
class ShellWord:
    """One word of a script."""

    text: str
    """Without its quotes and escapes."""
    start: int
    end: int
    """Characters of the script that it takes, `end` not included."""
    left_open: bool = False
    """The text ends inside its quote, its bracket or its escape."""


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """Words up to the next operator, without redirections."""

    words: tuple[ShellWord, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The words as the program gets them, expansions not made."""
        return tuple(word.text for word in self.words)


def shell_commands(text: str) -> tuple[ShellCommand, ...]:
    """Every simple command of a script, in order; empty ones are left out."""
    commands: list[list[ShellWord]] = [[]]
    skip = False
    for item in _items(text):
        if isinstance(item, ShellWord):
            if not skip:
                commands[-1].append(item)
            skip = False
        elif item in _REDIRECTIONS:
            _drop_descriptor(text, commands[-1])
            skip = True
        elif not skip:  # the & of 2>&1 belongs to its redirection
            commands.append([])
    return tuple(ShellCommand(tuple(words)) for words in commands if words)


def _drop_descriptor(text: str, words: list[ShellWord]) -> None:
    """Drop the 2 of `2>log`: it stands right before the sign."""
    if words and words[-1].text.isdecimal() and text[words[-1].end : words[-1].end + 1] in {"<", ">"}:
        words.pop()


def _items(text: str) -> Iterator[ShellWord | str]:
    """Words, and operators as single characters."""
    at = 0
    while at < len(text):
        sign = text[at]
        if text.startswith("\\\n", at):
            at += 2
        elif text.startswith("\\\r\n", at):
            at += 3
        elif sign in _BLANKS:
            at += 1
        elif sign in _OPERATORS:
            yield sign
            at += 1
        elif sign == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        else:
            word = _word(text, at)
            yield word
            at = word.end


def _word(text: str, start: int) -> ShellWord:
    parts: list[str] = []
    at = start
    while at < len(text) and text[at] not in _BLANKS and text[at] not in _OPERATORS:
        if text.startswith("\\\n", at):
            at += 2
            continue
        part, at = _part(text, at)
        parts.append(part)
    return ShellWord("".join(parts), start, min(at, len(text)), left_open=at > len(text))


def _part(text: str, at: int) -> tuple[str, int]:
    """One quoted stretch, one escape, one expansion in braces, or one character."""
    sign = text[at]
    if sign == "\\":
        return text[at + 1 : at + 2], at + 2
    if sign == "'":
        end = _closing(text, "'", at + 1)
        return text[at + 1 : end], end + 1
    if sign == '"':
        return _double_quoted(text, at + 1)
    if text.startswith("${", at):
        end = _closing(text, "}", at + 2)
        return text[at : end + 1], end + 1
    if text.startswith("$(", at):
        end = _closing_bracket(text, at + 2)
        return text[at : end + 1], end + 1
    return sign, at + 1


def _double_quoted(text: str, at: int) -> tuple[str, int]:
    parts: list[str] = []
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in {'"', "\\", "$", "`", "\n"}:
            parts.append("" if text[at + 1] == "\n" else text[at + 1])
            at += 2
        else:
            parts.append(text[at])
            at += 1
    return "".join(parts), at + 1


def _closing(text: str, sign: str, at: int) -> int:
    end = text.find(sign, at)
    return len(text) if end < 0 else end


def _closing_bracket(text: str, at: int) -> int:
    depth = 1
    while at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
        at += 1
    return at
