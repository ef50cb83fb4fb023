"""What the service's checker prints while it checks, in its exact words."""

import json
from dataclasses import dataclass, field
from typing import Final

from autotune.mindie_rules.json_text import JsonValue

INIT_EXCEPTION: Final = "ConfigManager init exception: "


@dataclass(slots=True)
class Console:
    """Standard output and standard error of the checker.

    A text without a line end stays in the buffer of standard output and is lost when the daemon kills itself,
    unless another line follows it.
    """

    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    """What goes to the log file only; a controller needs it to say why."""
    notices: list[str] = field(default_factory=list)
    """Lines of `output` that tell of a default and of no fault."""
    unfinished: str = ""

    def notice(self, line: str) -> None:
        """Print a line on standard output that tells of no fault."""
        self.notices.append(line)
        self.say(line)

    def say(self, line: str) -> None:
        """Print a line on standard output."""
        self.output.append(self.unfinished + line)
        self.unfinished = ""

    def begin(self, text: str) -> None:
        """Print a text without a line end on standard output."""
        self.unfinished += text

    def complain(self, line: str) -> None:
        """Print a line on standard error."""
        self.errors.append(line)

    def refuse(self, line: str) -> bool:
        """Print a line on standard output; False, the result of a check that fails."""
        self.say(line)
        return False

    def log(self, message: str) -> bool:
        """Write to the log only; False, the result of a check that fails."""
        self.logged.append(message)
        return False

    def bounds(self, name: str, value: int, low: int, high: int) -> bool:
        """Check a value against its bounds, with the service's two messages."""
        if value > high:
            return self.refuse(f"{name} [{value}] is out of bound [{high}]")
        if value < low:
            return self.refuse(f"{name} [{value}] is less than [{low}]")
        return True


class Thrown(Exception):
    """An exception inside the checker that ends it, with the line that it prints."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.line = line


def json_error(identity: int, kind: str, text: str) -> str:
    """The text of an exception of the service's JSON library."""
    return f"[json.exception.{kind}.{identity}] {text}"


def wrong_type(wanted: str, value: JsonValue) -> str:
    """The text of a conversion that the JSON library refuses."""
    return json_error(302, "type_error", f"type must be {wanted}, but is {type_name(value)}")


def type_name(value: JsonValue) -> str:
    """The JSON library's name of the value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"


def dump(value: JsonValue) -> str:
    """The value as the JSON library prints it: keys sorted, no blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def is_whole(value: JsonValue) -> bool:
    """Whether the value is an integer of JSON; 5.0 is none, true is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def as_bool(value: JsonValue) -> bool:
    """The value as the JSON library converts it to bool. Raises Thrown."""
    if isinstance(value, bool):
        return value
    raise Thrown("JSON error in ConfigManager: " + wrong_type("boolean", value))


def as_text(value: JsonValue) -> str:
    """The value as the JSON library converts it to a string. Raises Thrown."""
    if isinstance(value, str):
        return value
    raise Thrown("JSON error in ConfigManager: " + wrong_type("string", value))


def as_signed(value: JsonValue, bits: int = 32) -> int:
    """The value as the JSON library converts it to a signed integer; it wraps around. Raises Thrown."""
    unsigned = as_unsigned(value, bits)
    return unsigned - (1 << bits) if unsigned >> (bits - 1) else unsigned


def as_unsigned(value: JsonValue, bits: int = 32) -> int:
    """The value as the JSON library converts it to an unsigned integer; it wraps around. Raises Thrown."""
    if isinstance(value, bool | int | float):
        return int(value) & ((1 << bits) - 1)
    raise Thrown("JSON error in ConfigManager: " + wrong_type("number", value))


def member(document: JsonValue, key: str) -> JsonValue:
    """The JSON library's operator[] with a key: a null where nothing is. Raises Thrown for no object."""
    if document is None:
        return None
    if isinstance(document, dict):
        return document.get(key)
    text = f"cannot use operator[] with a string argument with {type_name(document)}"
    raise Thrown("JSON error in ConfigManager: " + json_error(305, "type_error", text))


def item(document: JsonValue, position: int) -> JsonValue:
    """The JSON library's operator[] with a number: a null where nothing is. Raises Thrown for no array."""
    if document is None:
        return None
    if isinstance(document, list):
        return document[position] if position < len(document) else None
    text = f"cannot use operator[] with a numeric argument with {type_name(document)}"
    raise Thrown("JSON error in ConfigManager: " + json_error(305, "type_error", text))


def contains(document: JsonValue, key: str) -> bool:
    """Whether the document is an object that has the key."""
    return isinstance(document, dict) and key in document


def length(value: JsonValue) -> int:
    """The JSON library's size(): 0 for null, 1 for anything that holds no others."""
    if value is None:
        return 0
    return len(value) if isinstance(value, list | dict) else 1


def elements(value: JsonValue) -> list[JsonValue]:
    """What the JSON library iterates over: a value that holds no others is its own element."""
    if value is None:
        return []
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]
