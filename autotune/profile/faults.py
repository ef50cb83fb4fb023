"""Faults of a profile's values: pydantic's findings in a user's words, with place and line."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from autotune.errors import Fault
from autotune.profile.document import Place, dotted
from autotune.profile.schema import Profile
from autotune.profile.spelling import closest

_WANTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "path_type": "a path",
    "int_from_float": "a whole number",
}
_FIXED = {
    "missing": "missing",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}
_COMPARED = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("above", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("below", "lt"),
}


def faults_of(
    error: ValidationError,
    *,
    values: Mapping[str, Any],
    lines: Mapping[Place, int],
    overridden: tuple[Place, ...],
) -> tuple[Fault, ...]:
    """One Fault for each finding, keys that are no text excepted: the document reports them itself."""
    details = [detail for detail in error.errors(include_url=False) if detail["type"] != "invalid_key"]
    return tuple(dict.fromkeys(_fault(detail, values, lines, overridden) for detail in details))


def _fault(
    detail: ErrorDetails, values: Mapping[str, Any], lines: Mapping[Place, int], overridden: tuple[Place, ...]
) -> Fault:
    place = _real_place(detail, values)
    message, hint = _wording(detail, place)
    if any(place[: len(given)] == given for given in overridden):
        return Fault(place=f"--set {dotted(place)}", line=None, message=message, hint=hint)
    return Fault(place=dotted(place), line=_nearest_line(place, lines), message=message, hint=hint)


def _real_place(detail: ErrorDetails, values: Any) -> Place:
    """The finding's location without the names of union members, which no user wrote."""
    place: list[str | int] = []
    node = values
    location = detail["loc"]
    for position, part in enumerate(location):
        new_at_end = position == len(location) - 1 and detail["type"] in {"missing", "extra_forbidden"}
        if _holds(node, part):
            node = node[part]
        elif not new_at_end:
            continue
        place.append(part)
    return tuple(place)


def _holds(node: Any, part: str | int) -> bool:
    if isinstance(node, Mapping):
        return part in node
    return isinstance(node, list | tuple) and isinstance(part, int) and part < len(node)


def _nearest_line(place: Place, lines: Mapping[Place, int]) -> int | None:
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _wording(detail: ErrorDetails, place: Place) -> tuple[str, str]:
    """Message and hint."""
    kind, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return "unknown key", _key_hint(place)
    if kind == "literal_error":
        return _choice(given, str(context.get("expected", "")))
    if kind == "string_pattern_mismatch":
        return f"{_shown(given)} has characters that can't stand here", f"pattern {context.get('pattern')}"
    return _plain_wording(kind, given, context, detail["msg"]), ""


def _plain_wording(kind: str, given: object, context: Mapping[str, Any], otherwise: str) -> str:
    if kind in _WANTED:
        return f"must be {_WANTED[kind]}, not {_shown(given)}"
    if kind in _COMPARED:
        words, bound = _COMPARED[kind]
        return f"must be {words} {context.get(bound)}, not {_shown(given)}"
    if kind == "value_error":
        return str(context.get("error", otherwise))
    return _FIXED.get(kind, otherwise)


def _choice(given: object, expected: str) -> tuple[str, str]:
    names = expected.replace("'", "").replace(" or ", ", ").split(", ")
    near = closest(given, names) if isinstance(given, str) else None
    message = f"{_shown(given)} is not one of {', '.join(names)}"
    return message, f"did you mean {near}?" if near else ""


def _shown(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"{str(value).lower()} (YAML reads yes, no, on and off so; quote text)"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return repr(value) if isinstance(value, str | int | float) else f"{value} (quote text)"


def _key_hint(place: Place) -> str:
    section = _section_at(place[:-1])
    word = str(place[-1])
    near = closest(word, section) if section else None
    if near:
        return f"did you mean {near}?"
    elsewhere = [name for name in _all_keys(Profile, "") if name.rpartition(".")[2] == word]
    if elsewhere:
        return f"did you mean {elsewhere[0]}?"
    return f"known here: {', '.join(section)}" if section else ""


def _section_at(place: Place) -> tuple[str, ...]:
    """The keys known at a place; a part that is no field is a user's own key or a position."""
    sections: list[type[BaseModel]] = [Profile]
    for part in place:
        fields = [section.model_fields[part] for section in sections if part in section.model_fields]
        if fields:
            sections = [found for each in fields for found in _sections_in(each.annotation)]
    return tuple(dict.fromkeys(name for section in sections for name in section.model_fields))


def _sections_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _sections_in(inner)


def _all_keys(section: type[BaseModel], before: str) -> Iterator[str]:
    for name, field in section.model_fields.items():
        yield f"{before}{name}"
        for inner in _sections_in(field.annotation):
            yield from _all_keys(inner, f"{before}{name}.")
