"""Document: the YAML text of a profile as plain values, with the line of every key."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import yaml

from autotune.errors import Fault


class _Mark(Protocol):
    """Where something stands in the text, counted from 0; PyYAML has two such classes."""

    line: int
    column: int


Place = tuple[str | int, ...]
"""Keys and list positions from the top."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """What stands in the text. `values` is empty when there are faults that keep it from being read."""

    values: dict[str, Any]
    lines: dict[Place, int] = field(default_factory=dict)
    """Line of each key and list item, counted from 1."""
    faults: tuple[Fault, ...] = ()


def read_document(text: str) -> Document:
    """Read YAML with the safe loader only; what can't be read becomes faults."""
    if not text.strip():
        return _unreadable(Fault(place="(file)", line=None, message="the file is empty", hint=_FIRST_KEYS))
    try:
        alias = next((event for event in yaml.parse(text) if isinstance(event, yaml.AliasEvent)), None)
        if alias is not None:
            return _unreadable(_fault_at(alias.start_mark, "aliases (*name) are not read in a profile"))
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        return _unreadable(_syntax_fault(error, text))
    if root is None:
        return _unreadable(
            Fault(place="(file)", line=None, message="only comments, no keys", hint=_FIRST_KEYS)
        )
    if not isinstance(root, yaml.MappingNode):
        return _unreadable(
            _fault_at(root.start_mark, "a profile is a mapping of keys to values", _FIRST_KEYS)
        )
    return _construct(root)


def dotted(place: Place) -> str:
    """`workload.headers.X` or `objective.limits[0]`."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "(file)"


_FIRST_KEYS = "begin with name: and engine:"


def _construct(root: yaml.MappingNode) -> Document:
    lines: dict[Place, int] = {}
    faults = list(_walk(root, (), lines))
    try:
        values = yaml.SafeLoader("").construct_document(root)
    except yaml.MarkedYAMLError as error:
        faults.append(_syntax_fault(error, ""))
        return Document(values={}, faults=tuple(faults))
    except ValueError as error:
        faults.append(Fault(place="(file)", line=None, message=f"a date or number can't be read: {error}"))
        return Document(values={}, faults=tuple(faults))
    return Document(values=values, lines=lines, faults=tuple(faults))


def _walk(node: yaml.Node, place: Place, lines: dict[Place, int]) -> Iterator[Fault]:
    """Note the line of everything below `node`; yield faults of keys."""
    if isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            here = (*place, position)
            lines[here] = _line(item.start_mark)
            yield from _walk(item, here, lines)
    elif isinstance(node, yaml.MappingNode):
        yield from _walk_mapping(node, place, lines)


def _walk_mapping(node: yaml.MappingNode, place: Place, lines: dict[Place, int]) -> Iterator[Fault]:
    seen: dict[Hashable, int] = {}
    for key, value in node.value:
        line = _line(key.start_mark)
        if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
            word = key.value if isinstance(key, yaml.ScalarNode) else "a key"
            message = f"{word!r} is not read as text here"
            yield Fault(place=dotted(place), line=line, message=message, hint=f'quote the key: "{word}"')
            continue
        here = (*place, key.value)
        if key.value in seen:
            message = f"written twice, first on line {seen[key.value]}"
            yield Fault(place=dotted(here), line=line, message=message, hint="keep one of them")
        seen.setdefault(key.value, line)
        lines[here] = line
        yield from _walk(value, here, lines)


def _syntax_fault(error: yaml.YAMLError, text: str) -> Fault:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if mark is None:
        position = getattr(error, "position", None)
        line = text.count("\n", 0, position) + 1 if isinstance(position, int) else None
        reason = getattr(error, "reason", problem)
        return Fault(place="(file)", line=line, message=f"not YAML: {reason}")
    if "\\t" in problem or "'\t'" in problem:
        return _fault_at(mark, "a tab where YAML wants spaces", "indent with spaces")
    begun = getattr(error, "context_mark", None)
    if str(getattr(error, "context", "")).startswith("while parsing a flow") and _line(begun) < _line(mark):
        return _fault_at(mark, f"not YAML: {problem}", f"close what line {_line(begun)} opens")
    hint = "quote values that begin with % @ ` * & ! or hold ': '"
    return _fault_at(mark, f"not YAML: {problem}", hint)


def _fault_at(mark: _Mark | None, message: str, hint: str = "") -> Fault:
    column = 1 if mark is None else int(mark.column) + 1
    return Fault(place=f"column {column}", line=_line(mark), message=message, hint=hint)


def _line(mark: _Mark | None) -> int:
    return 1 if mark is None else int(mark.line) + 1


def _unreadable(fault: Fault) -> Document:
    return Document(values={}, faults=(fault,))
