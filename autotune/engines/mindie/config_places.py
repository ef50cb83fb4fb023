"""Config places: where in a config.json a fault lies that is not one of its JSON, and what mends it there."""

import re
from collections.abc import Collection, Iterator
from typing import Final

from autotune.errors import Refused
from autotune.mindie_rules.fields import Field, Layout, dotted, layout_of, path_of
from autotune.mindie_rules.json_text import Document, KeyPath, place_at

_WORDS = re.compile(r"[A-Za-z]\w+")
_SECTIONS: Final = (Layout.GEN1, Layout.GEN2)


def known_layout(text: str, document: Document) -> Layout:
    """The layout of a document that was parsed.

    Raises Refused, with the place, for what is no configuration of MindIE, and for a file with the schedule
    of two generations: each version reads one of them and leaves the other without a word.
    """
    try:
        layout = layout_of(document.value)
    except Refused as refused:
        raise _not_a_configuration(text, document, refused) from refused
    both = [
        path for path in (path_of(Field.MAX_BATCH_SIZE, one) for one in _SECTIONS) if path in document.spans
    ]
    if len(both) > 1:
        first, second = (f"{dotted(path)} ({_place(text, document, path)})" for path in both)
        raise Refused(
            f"two generations of MindIE in one file: {first} and {second}; a version reads one of them",
            hint=f"remove the one that this version does not read; {both[0][0]} is that of 1.0.RC1 and RC2",
        )
    return layout


def _not_a_configuration(text: str, document: Document, refused: Refused) -> Refused:
    wanted = {layout.value.casefold(): layout.value for layout in Layout}
    for path in document.spans:
        name = wanted.get(str(path[-1]).casefold()) if len(path) == 1 else None
        if name is not None and name != path[0]:
            return Refused(
                f"{_place(text, document, path)}: {path[0]} is no key of the service's", hint=f"write {name}"
            )
        if name is not None:
            return Refused(f"{_place(text, document, path)}: {name} is no object", hint="put a backup back")
    top = document.spans[()].start
    return Refused(f"{place_at(text, top)}: {refused.message}", hint=refused.hint)


def missing(text: str, document: Document, wanted: KeyPath) -> Refused:
    """Say that a field is not where the service reads it: what stands there instead, or where it is."""
    name = dotted(wanted)
    for path in _alike(document, wanted):
        place = _place(text, document, path)
        if path[:-1] == wanted[:-1]:
            message = f"{place}: {path[-1]} is no key of the service's, which reads {name}"
            return Refused(message, hint=f"write {wanted[-1]}")
        message = f"the configuration has no {name}; {dotted(path)} ({place}) is not read by the service"
        return Refused(message, hint=f"move it to {name}")
    section = wanted[:-1]
    while section not in document.spans:
        section = section[:-1]
    where = dotted(section) or "the configuration"
    message = f"{_place(text, document, section)}: {where} has no {dotted(wanted[len(section) :])}"
    return Refused(message, hint=f"add {name} to it by hand")


def _alike(document: Document, wanted: KeyPath) -> Iterator[KeyPath]:
    """Give the keys of the same name but for case, blanks and underscores: of the section first."""
    name = _plain(wanted[-1])
    found = [path for path in document.spans if path and _plain(path[-1]) == name and path != wanted]
    yield from sorted(found, key=lambda path: path[:-1] != wanted[:-1])


def _plain(key: str | int) -> str:
    return re.sub(r"[\s_-]", "", str(key)).casefold()


def place_of_fault(
    text: str, document: Document, section: KeyPath, fault: str, *, written: Collection[KeyPath]
) -> str:
    """Where the value stands that one of the service's messages names; empty when it names none.

    Values that are written anew have no place: what is wrong with them does not lie in the file.
    """
    for word in _WORDS.findall(fault):
        path = (*section, word)
        if path in document.spans and path not in written:
            return f"{_place(text, document, path)}: "
    return ""


def _place(text: str, document: Document, path: KeyPath) -> str:
    return str(place_at(text, document.spans[path].start))
