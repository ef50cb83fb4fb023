"""Overrides: `--set key.path=value` laid over the values of a profile."""

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from autotune.errors import Fault
from autotune.profile.document import Place, dotted

_KEY = re.compile(r"[^\s=.\[\]]+(\.[^\s=.\[\]]+|\[\d+\])*")
_PART = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True, kw_only=True)
class Overridden:
    """Values with the overrides in place, the places they went to, and what was wrong with them."""

    values: dict[str, Any]
    places: tuple[Place, ...] = ()
    faults: tuple[Fault, ...] = ()


def override(values: dict[str, Any], overrides: Sequence[str]) -> Overridden:
    """Lay each `key.path=value` over a copy of `values`; the value is read as YAML."""
    result = copy.deepcopy(values)
    places: list[Place] = []
    faults: list[Fault] = []
    for text in overrides:
        key, equals, value_text = text.partition("=")
        key = key.strip()
        if not equals or not _KEY.fullmatch(key):
            faults.append(_fault(text, "not of the form key.path=value", "--set search.step=50"))
            continue
        try:
            value = yaml.safe_load(value_text)
        except (yaml.YAMLError, ValueError) as error:
            problem = getattr(error, "problem", None) or str(error)
            faults.append(
                _fault(key, f"the value is not YAML: {problem}", "quote it inside the shell's quotes")
            )
            continue
        place = _place(key)
        problem_place = _put(result, place, value)
        if problem_place is None:
            places.append(place)
        else:
            faults.append(_fault(key, f"{dotted(problem_place)} holds no such part"))
    return Overridden(values=result, places=tuple(places), faults=tuple(faults))


def _place(key: str) -> Place:
    parts = _PART.findall(key.replace("[", ".").replace("]", ""))
    return tuple(int(part) if part.isdecimal() and number else part for number, part in enumerate(parts))


def _put(values: dict[str, Any], place: Place, value: Any) -> Place | None:
    """Set the value; gives the place that can't hold the next part, or None when all is well."""
    node: Any = values
    for depth, part in enumerate(place[:-1]):
        if isinstance(node, dict):
            if node.get(part) is None:
                node[part] = {}
            node = node[part]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        else:
            return place[:depth]
    return None if _put_last(node, place[-1], value) else place[:-1]


def _put_last(node: Any, part: str | int, value: Any) -> bool:
    if isinstance(node, dict):
        node[str(part)] = value
        return True
    if isinstance(node, list) and isinstance(part, int) and part <= len(node):
        node[part : part + 1] = [value]
        return True
    return False


def _fault(place: str, message: str, hint: str = "") -> Fault:
    return Fault(place=f"--set {place}", line=None, message=message, hint=hint)
