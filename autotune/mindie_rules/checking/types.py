"""The type checks that come first in every section: strict, in a fixed order, the first fault only."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, unique
from typing import Final

from autotune.mindie_rules.checking.console import Console, contains, dump, elements, is_whole, type_name
from autotune.mindie_rules.json_text import JsonValue

INT32_LOW: Final = -(2**31)
INT32_HIGH: Final = 2**31 - 1
UINT32_HIGH: Final = 2**32 - 1
_LONGEST_SIZE = len(str(2**64 - 1))
_LEADING_NUMBER = re.compile(r"\s*[+-]?\d+")


@unique
class Kind(Enum):
    """The types as the checker names them."""

    STRING = "string"
    INT32 = "int32_t"
    UINT32 = "uint32_t"
    BOOL = "bool"
    ARRAY = "array"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Spec:
    """One field of a section: its key, its type and whether it must be there."""

    key: str
    kind: Kind
    compulsory: bool


def required(kind: Kind, *keys: str) -> tuple[Spec, ...]:
    """Fields that must be there."""
    return tuple(Spec(key, kind, compulsory=True) for key in keys)


def optional(kind: Kind, *keys: str) -> tuple[Spec, ...]:
    """Fields that may be left out."""
    return tuple(Spec(key, kind, compulsory=False) for key in keys)


def check_types(console: Console, section: JsonValue, specs: Sequence[Spec]) -> bool:
    """Check the fields of a section in order; what is not listed is not looked at."""
    for spec in specs:
        if not contains(section, spec.key):
            if spec.compulsory:
                return console.refuse(
                    f"[ParamChecker::CheckJsonParamType] {spec.key}: missing compulsory field"
                )
            continue
        value = section.get(spec.key) if isinstance(section, dict) else None
        if not _check_type(console, spec, value):
            return False
    return True


def _check_type(console: Console, spec: Spec, value: JsonValue) -> bool:
    match spec.kind:
        case Kind.INT32 | Kind.UINT32:
            return _check_number(console, spec, value)
        case Kind.ARRAY:
            return _check_array(console, spec.key, value)
        case Kind.STRING:
            return isinstance(value, str) or _refuse_type(console, spec, value)
        case Kind.BOOL:
            return isinstance(value, bool) or _refuse_type(console, spec, value)
        case Kind.OBJECT:
            return isinstance(value, dict) or _refuse_type(console, spec, value)


def _refuse_type(console: Console, spec: Spec, value: JsonValue) -> bool:
    return console.refuse(
        f"The type of param {spec.key} should be {spec.kind.value}, but got {type_name(value)}"
    )


def _check_number(console: Console, spec: Spec, value: JsonValue) -> bool:
    if not isinstance(value, int) or not is_whole(value):
        return _refuse_type(console, spec, value)
    if spec.kind is Kind.INT32:
        fits = INT32_LOW <= value <= INT32_HIGH
    else:
        fits = 0 <= value <= UINT32_HIGH
        if value < 0:
            console.complain(f"Negative value is invalid for {spec.kind.value}.")
    return fits or console.refuse(f"The value of param {spec.key} for {spec.kind.value} is invalid.")


def _check_array(console: Console, key: str, value: JsonValue) -> bool:
    if not isinstance(value, list):
        return console.refuse(f"The type of param {key} should be array, but is {type_name(value)}")
    return key != "npuDeviceIds" or all(_check_devices(console, group) for group in value)


def _check_devices(console: Console, group: JsonValue) -> bool:
    if not isinstance(group, list):
        what = f"should be array, but is {type_name(group)}"
        return console.refuse(f"The type of param in each npuDeviceIds set {what}")
    return all(
        _is_size(console, device)
        or console.refuse(f"The values of npu_ids should not be less than 0, but got {dump(device)}")
        for device in group
    )


def _is_size(console: Console, value: JsonValue) -> bool:
    """Whether the number that the printed value begins with is a size; a string counts by what is in it."""
    printed = value if isinstance(value, str) else dump(value)
    if "-" in printed:
        console.complain("Negative value is invalid for size_t.")
        return False
    number = _LEADING_NUMBER.match(printed)
    if number is None:
        console.complain("Invalid argument: Unable to convert to size_t.")
        return False
    if len(number.group().lstrip("\t\n\v\f\r +0")) > _LONGEST_SIZE or int(number.group()) > 2**64 - 1:
        console.complain("Out of range: Value is too large for size_t.")
        return False
    return True


def check_strings(console: Console, value: JsonValue) -> bool:
    """Whether every element is a string."""
    if all(isinstance(element, str) for element in elements(value)):
        return True
    return console.refuse("Type of element in json array does not match string")


def check_sizes(console: Console, value: JsonValue) -> bool:
    """Whether every element is a whole number from 0 on."""
    for element in elements(value):
        if not is_whole(element):
            return console.refuse("Type of element in json array does not match integer")
        if not _is_size(console, element):
            return console.refuse("The value of element in json array for size_t is invalid.")
    return True
