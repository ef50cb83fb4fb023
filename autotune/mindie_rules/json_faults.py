"""What is wrong with a text that is not JSON, and how to mend it; for people, not for the parser."""

import re
from dataclasses import dataclass
from typing import Final

_KEY: Final = "a key in double quotes"
_NO_VALUE: Final = frozenset(",}]")
_PLACEHOLDER = re.compile(
    r"\$\{[^}\n]*\}|\$[A-Za-z_]\w*|<[\w .-]+>|%[A-Za-z_]\w*%?|xxx+\b|x\.x\.x\.x", re.IGNORECASE
)
_SHOWN: Final = 20
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
        _merge,
        _beginning,
        _comma,
        _colon,
        _placeholder,
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
    message = f"{expected} is expected, not `{_shown(rest)}`"
    return Diagnosis(offset=offset, message=message, mend=_mend_of(rest, expected))


def _shown(rest: str) -> str:
    """The beginning of its first line."""
    return rest.split("\n", 1)[0].rstrip("\r")[:_SHOWN].encode("utf-8", "backslashreplace").decode()


def _mend_of(rest: str, expected: str) -> str:
    if expected.startswith("one of the escapes"):
        return "write \\\\ for a backslash"
    if rest[0] in _CLOSE:
        return "close the brackets in the order in which they were opened"
    if rest[0].isdigit():
        return "write the number with the digits 0 to 9"
    if expected.startswith("a comma or") and (rest[0].isalnum() or rest[0] == "_"):
        return "write the value alone: a number with digits, a text in double quotes"
    return "correct this place"


def _nothing(text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    if not text.strip("\ufeff \t\r\n"):
        return Diagnosis(offset=0, message="the file holds no JSON", mend="put a backup of the file back")
    if rest.startswith('"') and expected == "the closing double quote":
        message = "the file ends inside the string that begins here"
        return Diagnosis(offset=offset, message=message, mend='put the whole file back, or add the missing "')
    if rest:
        return None
    message = f"the file ends too early: {expected} is expected"
    return Diagnosis(offset=offset, message=message, mend="put the whole file back: its end is missing")


def _encoding(text: str, _offset: int, _rest: str, _expected: str) -> Diagnosis | None:
    """The mark of UTF-16 is no UTF-8, so it stands there as lone surrogates; without one zeros tell."""
    start = text[:4]
    if "\0\0" in start:
        return Diagnosis(offset=0, message="the file is UTF-32", mend="save the file as UTF-8")
    if start.startswith(("\udcff\udcfe", "\udcfe\udcff")) or "\0" in start:
        return Diagnosis(offset=0, message="the file is UTF-16", mend="save the file as UTF-8")
    return None


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
    if not rest.startswith(("//", "/*", "#", "--", "<!--", "／／")):
        return None
    mend = "remove the comment: the service takes none"
    return Diagnosis(offset=offset, message="a comment is not JSON", mend=mend)


def _merge(_text: str, offset: int, rest: str, _expected: str) -> Diagnosis | None:
    if not rest.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
        return None
    mend = "keep one of the two sides, and remove the lines with the marks"
    return Diagnosis(offset=offset, message="the mark of an unfinished merge", mend=mend)


def _beginning(text: str, offset: int, rest: str, _expected: str) -> Diagnosis | None:
    """YAML, a fence of Markdown, a prompt: what stands before the first brace is no JSON."""
    if text[:offset].strip("\ufeff \t\r\n") or rest[0] in "{[":
        return None
    shown = _shown(rest)
    mend = "give the config.json itself: it is one JSON object, from { to }"
    return Diagnosis(offset=offset, message=f"the file begins with `{shown}`, not with {{", mend=mend)


def _comma(text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    before = text[:offset].rstrip(" \t\r\n")
    if rest[0] in _CLOSE and before.endswith(","):
        message = f"a comma before {rest[0]} is not JSON"
        return Diagnosis(offset=len(before) - 1, message=message, mend="remove the comma")
    if before.endswith(":") and rest[0] in _NO_VALUE:
        mend = "write the value behind the colon"
        return Diagnosis(offset=offset, message="a key without a value", mend=mend)
    if rest[0] == ",":
        return Diagnosis(offset=offset, message="a comma without a value before it", mend="remove the comma")
    if expected == _KEY and before.endswith(",") and rest[0].isdigit():
        mend = "write the number without commas between its digits"
        return Diagnosis(offset=offset, message="a number stands where a key should", mend=mend)
    return None


def _colon(_text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    if expected != "a colon after the key" or rest[0] in "：;；":
        return None
    if rest.startswith(("=>", "=")):
        return Diagnosis(offset=offset, message="= is no colon", mend="write : in its place")
    return Diagnosis(offset=offset, message="a colon is missing after the key", mend="add a colon here")


def _placeholder(_text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    found = _PLACEHOLDER.match(rest)
    if found is None and not (expected == _KEY and rest[0] == "{"):
        return None
    shown = found.group() if found else _shown(rest)
    message = f"`{shown}` is a placeholder that nobody has filled in"
    return Diagnosis(offset=offset, message=message, mend="write the value in its place")


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
    if expected == _KEY:
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


def _numbers(text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    digits = re.match(r"[xX][0-9A-Fa-f]+|[bB][01]+|[oO][0-7]+", rest)
    if digits and text[offset - 1 : offset] == "0":
        message = f"0{digits.group()} is no number of JSON"
        return Diagnosis(offset=offset - 1, message=message, mend="write the number in decimal digits")
    shown = re.match(r"[+-]?[0-9.][0-9.eE+-]*", rest)
    if shown is None:
        return None
    bare = shown.group().lstrip("+-")
    if expected == "a number that a double holds":
        message = f"{shown.group()[:_SHOWN]} is larger than the service can read"
        return Diagnosis(offset=offset, message=message, mend="write a smaller number")
    mend = "write the number without leading zeros" if bare.startswith("0") else "write the number plainly"
    return Diagnosis(offset=offset, message=f"{shown.group()[:_SHOWN]} is no number of JSON", mend=mend)


def _gap(text: str, offset: int, rest: str, expected: str) -> Diagnosis | None:
    if expected.startswith("a comma or") and (rest[0] == '"' or rest[0] in _OPEN):
        before = len(text[:offset].rstrip(" \t\r\n"))
        return Diagnosis(offset=before, message="a comma is missing", mend="add a comma here")
    return None
