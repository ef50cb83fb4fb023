"""JSON codec of the frozen model types: encode(value, shape) and decode(document, shape) are inverse.

A shape is a type as it stands in an annotation: a dataclass, an Enum, bool, int, float, str, None,
`tuple[T, ...]`, or a union of these. A dataclass becomes an object of its fields; where a union offers
several dataclasses the object carries its class name under `$type`. Floats that JSON has no word for
are written as the strings "inf", "-inf" and "nan".
"""

import dataclasses
import math
import types
import typing
from enum import Enum
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from autotune.errors import AutotuneError

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
TYPE_KEY = "$type"
T = TypeVar("T")


class Unreadable(AutotuneError):
    """A stored document that does not have the shape it was written with."""


def encode(value: object, shape: Any) -> Json:
    """The JSON document of `value`. Raises TypeError when `value` is not of that shape."""
    members = _members(shape)
    for member in members:
        if _fits(value, member):
            document = _encode_member(value, member)
            if isinstance(document, dict) and _is_ambiguous(members):
                return {TYPE_KEY: member.__name__, **document}
            return document
    raise TypeError(f"{value!r} is not {shape}")


def decode(document: Json, shape: type[T]) -> T:
    """The value that `encode` wrote. Raises Unreadable for any other document.

    A field that is missing takes its default, so that what an older version wrote can be read.
    """
    return cast("T", _decode(document, shape, "$"))


def field_shapes(cls: type) -> dict[str, Any]:
    """The annotated type of each field of a dataclass, in order."""
    hints = _hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _members(shape: Any) -> tuple[Any, ...]:
    if typing.get_origin(shape) in {typing.Union, types.UnionType}:
        return typing.get_args(shape)
    return (shape,)


def _is_ambiguous(members: tuple[Any, ...]) -> bool:
    return sum(dataclasses.is_dataclass(member) for member in members) > 1


def _fits(value: object, member: Any) -> bool:
    if typing.get_origin(member) is tuple:
        return isinstance(value, tuple)
    if member is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is member


def _encode_member(value: Any, member: Any) -> Json:
    if dataclasses.is_dataclass(member):
        shapes = field_shapes(cast("type", member))
        return {name: encode(getattr(value, name), shape) for name, shape in shapes.items()}
    if typing.get_origin(member) is tuple:
        return [encode(item, typing.get_args(member)[0]) for item in value]
    if isinstance(value, Enum):
        return cast("Json", value.value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return cast("Json", value)


def _decode(document: Json, shape: Any, place: str) -> object:
    members = _members(shape)
    if _is_ambiguous(members) and isinstance(document, dict):
        named = [member for member in members if member.__name__ == document.get(TYPE_KEY)]
        if not named:
            raise _unreadable(document, shape, place)
        return _decode_dataclass(document, named[0], place)
    for member in members:
        if _takes(document, member):
            return _decode_member(document, member, place)
    raise _unreadable(document, shape, place)


def _takes(document: Json, member: Any) -> bool:
    if dataclasses.is_dataclass(member):
        return isinstance(document, dict)
    if typing.get_origin(member) is tuple:
        return isinstance(document, list)
    if isinstance(member, type) and issubclass(member, Enum):
        return document in [item.value for item in member]
    if member is float:
        return _fits(document, float) or document in ("inf", "-inf", "nan")
    return type(document) is member


def _decode_member(document: Any, member: Any, place: str) -> object:
    if dataclasses.is_dataclass(member):
        return _decode_dataclass(document, cast("type", member), place)
    if typing.get_origin(member) is tuple:
        item = typing.get_args(member)[0]
        return tuple(_decode(entry, item, f"{place}[{at}]") for at, entry in enumerate(document))
    if member is type(None):
        return None
    return member(document)


def _decode_dataclass(document: dict[str, Json], cls: type, place: str) -> object:
    shapes = field_shapes(cls)
    unknown = sorted(set(document) - set(shapes) - {TYPE_KEY})
    if unknown:
        raise Unreadable(
            f"{place}: unknown field {unknown[0]!r} in a stored {cls.__name__}",
            hint="a newer version of autotune wrote this; read it with that version",
        )
    values = {
        name: _decode(document[name], shape, f"{place}.{name}")
        for name, shape in shapes.items()
        if name in document
    }
    try:
        return cls(**values)
    except TypeError as error:
        raise Unreadable(f"{place}: a stored {cls.__name__} lacks a field: {error}") from error


def _unreadable(document: Json, shape: Any, place: str) -> Unreadable:
    name = getattr(shape, "__name__", None) or str(shape)
    return Unreadable(f"{place}: {str(document)[:80]!r} is not {name}")
