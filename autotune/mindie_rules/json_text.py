"""JSON text read as the service's own parser reads it, with the place of every value and every fault.

The parser (nlohmann::json, default options) takes no comments, no trailing commas and no NaN, keeps the
last of two equal keys, skips a byte order mark, and stops after the first value: what follows is not read.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, TypeAlias

from autotune.errors import Refused
from autotune.mindie_rules.json_faults import Diagnosis, diagnose

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
KeyPath = tuple[str | int, ...]
"""Keys and list positions from the top of the document down to a value."""

BYTE_ORDER_MARK: Final = "\ufeff"
MAX_DEPTH: Final = 200
_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_HEX4 = re.compile(r"[0-9a-fA-F]{4}")
_WORDS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None}
_ESCAPES: Final[Mapping[str, str]] = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_INT64_LOW: Final = -(2**63)
_UINT64_HIGH: Final = 2**64 - 1
_LONGEST_WHOLE: Final = len(str(_UINT64_HIGH))


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Where a value stands in the text: from `start` up to but not including `end`."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatedKey:
    """A key that stands twice in one object; the service silently takes the last."""

    path: KeyPath
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A parsed text: its value, and where everything in it stands."""

    value: JsonValue
    spans: Mapping[KeyPath, Span]
    repeated: tuple[RepeatedKey, ...]
    end: int
    """Offset behind the first value; the service does not read on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Line and column of an offset, both from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def place_at(text: str, offset: int) -> Place:
    """The line and column of an offset."""
    line = text.count("\n", 0, offset) + 1
    return Place(line=line, column=offset - (text.rfind("\n", 0, offset) + 1) + 1)


class MalformedJson(Refused):
    """A text that is not JSON: what is wrong, where, and how to mend it."""

    def __init__(self, text: str, diagnosis: Diagnosis) -> None:
        self.place = place_at(text, diagnosis.offset)
        self.offset = diagnosis.offset
        super().__init__(f"{self.place}: {diagnosis.message}", hint=diagnosis.mend)


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    spans: dict[KeyPath, Span] = field(default_factory=dict)
    repeated: list[RepeatedKey] = field(default_factory=list)

    def fail(self, expected: str, offset: int | None = None) -> NoReturn:
        place = self.at if offset is None else offset
        raise MalformedJson(self.text, diagnose(self.text, place, expected))

    def skip(self) -> str:
        """Go over blanks; the character that comes next, or nothing at the end."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def value(self, path: KeyPath) -> JsonValue:
        if len(path) > MAX_DEPTH:
            self.fail("fewer brackets: the text is nested too deeply")
        start_character = self.skip()
        start = self.at
        result: JsonValue
        if start_character == "{":
            result = self.members(path)
        elif start_character == "[":
            result = self.items(path)
        elif start_character == '"':
            result = self.string()
        elif start_character == "-" or start_character.isdecimal():
            result = self.number()
        else:
            result = self.word()
        self.spans[path] = Span(start=start, end=self.at)
        return result

    def members(self, path: KeyPath) -> dict[str, JsonValue]:
        self.at += 1
        result: dict[str, JsonValue] = {}
        if self.skip() == "}":
            self.at += 1
            return result
        while True:
            if self.skip() != '"':
                self.fail("a key in double quotes")
            key_at = self.at
            key = self.string()
            if key in result:
                self.repeated.append(RepeatedKey(path=(*path, key), offset=key_at))
                self._forget((*path, key))
            if self.skip() != ":":
                self.fail("a colon after the key")
            self.at += 1
            result[key] = self.value((*path, key))
            if self._closed_by("}"):
                return result

    def items(self, path: KeyPath) -> list[JsonValue]:
        self.at += 1
        result: list[JsonValue] = []
        if self.skip() == "]":
            self.at += 1
            return result
        while True:
            result.append(self.value((*path, len(result))))
            if self._closed_by("]"):
                return result

    def _closed_by(self, bracket: str) -> bool:
        following = self.skip()
        if following not in {",", bracket} or not following:
            self.fail(f"a comma or {bracket}")
        self.at += 1
        return following == bracket

    def _forget(self, path: KeyPath) -> None:
        for known in [known for known in self.spans if known[: len(path)] == path]:
            del self.spans[known]

    def string(self) -> str:
        start = self.at
        self.at += 1
        parts: list[str] = []
        while True:
            plain = _PLAIN.match(self.text, self.at)
            if plain:
                parts.append(plain.group())
                self.at = plain.end()
            character = self.text[self.at : self.at + 1]
            if character == '"':
                self.at += 1
                return "".join(parts)
            if character != "\\":
                self.fail("the closing double quote", start if not character else None)
            parts.append(self.escape())

    def escape(self) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter == "u":
            return self.code_point()
        if letter not in _ESCAPES:
            self.fail("one of the escapes of JSON after the backslash")
        self.at += 2
        return _ESCAPES[letter]

    def code_point(self) -> str:
        first = self._four_digits()
        if not "\ud800" <= first <= "\udfff":
            return first
        second = self._four_digits() if self.text.startswith("\\u", self.at) else ""
        pair = (first + second).encode("utf-16-be", "surrogatepass")
        try:
            return pair.decode("utf-16-be")
        except UnicodeDecodeError:
            self.fail("a whole pair of \\u escapes", self.at - len("\\u0000"))

    def _four_digits(self) -> str:
        digits = _HEX4.match(self.text, self.at + 2)
        if digits is None:
            self.fail("four hexadecimal digits after \\u")
        self.at += len("\\u0000")
        return chr(int(digits.group(), 16))

    def number(self) -> int | float:
        found = _NUMBER.match(self.text, self.at)
        if found is None:
            self.fail("a number")
        following = self.text[found.end() : found.end() + 1]
        if following.isdecimal() or following in {".", "e", "E"}:
            self.fail("a number as JSON writes it")
        self.at = found.end()
        real = float(found.group())
        if math.isinf(real):
            self.fail("a number that a double holds", found.start())
        if found[1] or found[2] or len(found.group()) > _LONGEST_WHOLE:
            return real
        whole = int(found.group())
        return whole if _INT64_LOW <= whole <= _UINT64_HIGH else real

    def word(self) -> bool | None:
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        return self.fail("a value")


def parse(text: str) -> Document:
    """Read the first value of the text, as the service does. Raises MalformedJson.

    Bytes that are no UTF-8 are to come as lone surrogates (`errors="surrogateescape"`); inside of a string
    the service refuses them.
    """
    reader = _Reader(text, at=len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)
    value = reader.value(())
    return Document(value=value, spans=reader.spans, repeated=tuple(reader.repeated), end=reader.at)
