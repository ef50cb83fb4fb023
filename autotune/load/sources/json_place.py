"""JSON place: where in a document a value stands, `$.results[0].throughput`."""

import re
from typing import Any

from autotune.errors import UsageError

_STEP = re.compile(r"\.([A-Za-z_][\w-]*)|\[(-?\d+)\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")

Place = tuple[str | int, ...]


def parse_place(text: str) -> Place:
    """The steps of a path that begins with `$`. Raises UsageError for anything else."""
    steps: list[str | int] = []
    position = 1
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise UsageError(
                f"{text!r} is no JSON path from its character {position + 1} on",
                hint="write it like $.results[0].output_throughput or $['a name']",
            )
        name, index, *quoted = match.groups()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(name if name is not None else next(one for one in quoted if one is not None))
        position = match.end()
    if not text.startswith("$") or not steps:
        raise UsageError(f"{text!r} is no JSON path", hint="write it like $.output_throughput")
    return tuple(steps)


def value_at_place(document: Any, place: Place) -> Any:
    """What stands there; None where nothing does."""
    value = document
    for step in place:
        if isinstance(step, int):
            inside = isinstance(value, list) and -len(value) <= step < len(value)
            value = value[step] if inside else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value
