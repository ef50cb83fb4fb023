"""What is wrong with a text that is not JSON, and how to mend it; for people, not for the parser."""

import re
from dataclasses import dataclass
from typing import Final

_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_OPEN: Final = frozenset("{[")
_CLOSE: Final = frozenset("}]")
TOO_DEEP: Final = "fewer brackets"
_INVISIBLE: Final = frozenset("\u200b\u200c\u200d\u2060\ufeff")
_NO_NUMBERS: Final = frozenset({"NaN", "nan", "Infinity", "inf", "Inf"})
_OTHER_LANGUAGES: Final = {"True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """What is wrong, at which offset, and what to do about it."""

    offset: int
    message: str
    mend: str


def diagnose(text: str, offset: int, expected: str) -> Diagnosis:
    """Explain why the text stops being JSON at the offset, where the parser wanted `expected`."""
    rest = text[offset:]
    for check in (
        _encoding,
        _depth,
        _nothing,
        _blank,
        _comment,
        _comma,
        _quotes,
        _words,
        _members,
        _control,
        _numbers,
        _gap,
    ):
        found = check(text, offset, rest, expected)
        if found is not None:
            return found
    shown = rest.split("\n", 1)[0][:20].encode("utf-8", "backslashreplace").decode()
    return Diagnosis(
        offset=offset, message=f"{expected} is expected, not `{shown}`", mend="correct this place"
    )


def _nothing(text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    if not text.strip("\ufeff \t\r\n"):
        return Diagnosis(offset=0, message="the file holds no JSON", mend="put a backup of the file back")
    if rest.startswith('"') and expected == "the closing double quote":
        return Diagnosis(offset=offset, message="a string is not closed", mend='add the missing "')
    if rest:
        return None
    message = f"the file ends too early: {expected} is expected"
    return Diagnosis(offset=offset, message=message, mend="put the whole file back: its end is missing")


def _encoding(text: str, _offset: int, _rest: str, _expected: str) -> Diagnosis | None:
    """The first bytes of UTF-16 are none of UTF-8, so they stand there as lone surrogates."""
    if not text.startswith(("\udcff\udcfe", "\udcfe\udcff")):
        return None
    return Diagnosis(offset=0, message="the file is UTF-16", mend="save the file as UTF-8")


def _depth(_text: str, offset: int, _rest: str, expected: str) -> Diagnosis | None:
    if not expected.startswith(TOO_DEEP):
        return None
    return Diagnosis(offset=offset, message="the text is nested too deeply", mend="write fewer brackets")


def _blank(_text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    """Blanks that editors and web pages leave, and that JSON does not know."""
    if expected == "the closing double quote" or not (rest[0].isspace() or rest[0] in _INVISIBLE):
        return None
    message = f"an invisible character (U+{ord(rest[0]):04X}) is not JSON"
    return Diagnosis(offset=offset, message=message, mend="remove it, or write a blank in its place")


def _comment(_text: str, offset: int, rest: str, _expected: str) -> Diagnosis | None:
    if not rest.startswith(("//", "/*", "#")):
        return None
    mend = "remove the comment: the service takes none"
    return Diagnosis(offset=offset, message="a comment is not JSON", mend=mend)


def _comma(text: str, offset: int, rest: str, _expected: str) -> Diagnosis | None:
    before = text[:offset].rstrip(" \t\r\n")
    if rest[0] in _CLOSE and before.endswith(","):
        message = f"a comma before {rest[0]} is not JSON"
        return Diagnosis(offset=len(before) - 1, message=message, mend="remove the comma")
    if rest[0] == ",":
        return Diagnosis(offset=offset, message="a comma without a value before it", mend="remove the comma")
    return None


def _quotes(_text: str, offset: int, rest: str, _expected: str) -> Diagnosis | None:
    if rest[0] in "'‘’“”＂":
        message = f"{rest[0]} is no quote of JSON"
        return Diagnosis(offset=offset, message=message, mend='write " in its place')
    if rest[0] in "：，；;":
        ascii_form = {"：": ":", "，": ",", "；": ",", ";": ","}[rest[0]]
        return Diagnosis(
            offset=offset, message=f"{rest[0]} is not JSON", mend=f"write {ascii_form} in its place"
        )
    return None


def _words(_text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    if rest.startswith("..."):
        mend = "write the left-out lines: the service needs the whole file"
        return Diagnosis(offset=offset, message="`...` stands for lines that are left out", mend=mend)
    number = re.match(r"[+-](?:NaN|Infinity|inf)", rest)
    word = _WORD.match(rest)
    if number or (word and word.group() in _NO_NUMBERS):
        shown = number.group() if number else rest[: word.end() if word else 0]
        return Diagnosis(offset=offset, message=f"{shown} is no number of JSON", mend="write a number")
    if word is None:
        return None
    if word.group() in _OTHER_LANGUAGES:
        mend = f"write {_OTHER_LANGUAGES[word.group()]}"
        return Diagnosis(offset=offset, message=f"{word.group()} is not JSON", mend=mend)
    if expected == "a key in double quotes":
        mend = f'write "{word.group()}"'
        return Diagnosis(offset=offset, message=f"the key {word.group()} has no double quotes", mend=mend)
    return None


def _members(text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    """A list of members without the braces around them is told from the first one: `"key": value`."""
    if expected == "the end of the file" and rest[0] in ":," and text.lstrip("\ufeff \t\r\n").startswith('"'):
        message = "an excerpt of a configuration: members without { and } around them"
        mend = "give the whole config.json, not an excerpt of it"
        return Diagnosis(offset=len(text) - len(text.lstrip("\ufeff \t\r\n")), message=message, mend=mend)
    if expected == "the end of the file":
        mend = "remove what stands behind the closing brace: the service does not read it"
        return Diagnosis(offset=offset, message="text behind the end of the JSON", mend=mend)
    return None


def _control(_text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    if expected == "the closing double quote" and rest[0] in "\r\n":
        return Diagnosis(
            offset=offset, message="a string is not closed on its line", mend='add the missing "'
        )
    if expected == "the closing double quote" and "\ud800" <= rest[0] <= "\udfff":
        return Diagnosis(offset=offset, message="a byte that is no UTF-8", mend="save the file as UTF-8")
    if expected == "the closing double quote":
        mend = f"write \\u{ord(rest[0]):04x} in its place"
        return Diagnosis(offset=offset, message="a control character inside a string", mend=mend)
    return None


def _numbers(text: str, offset: int, rest: str, _expected: str) -> Diagnosis | None:
    digits = re.match(r"[xX][0-9A-Fa-f]+|[bB][01]+|[oO][0-7]+", rest)
    if digits and text[offset - 1 : offset] == "0":
        message = f"0{digits.group()} is no number of JSON"
        return Diagnosis(offset=offset - 1, message=message, mend="write the number in decimal digits")
    shown = re.match(r"[+-]?[0-9.][0-9.eE+-]*", rest)
    if shown is None:
        return None
    bare = shown.group().lstrip("+-")
    mend = "write the number without leading zeros" if bare.startswith("0") else "write the number plainly"
    return Diagnosis(offset=offset, message=f"{shown.group()} is no number of JSON", mend=mend)


def _gap(text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    if expected.startswith("a comma or") and (rest[0] == '"' or rest[0] in _OPEN):
        before = len(text[:offset].rstrip(" \t\r\n"))
        return Diagnosis(offset=before, message="a comma is missing", mend="add a comma here")
    return None
