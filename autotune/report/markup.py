"""Markup: HTML and SVG as values that escape whatever is put into them."""

import html
import re
from functools import lru_cache

from autotune.report.safe_text import clean

VOID = frozenset({"meta", "br", "hr", "img", "link", "path", "circle", "line", "rect", "use", "polygon"})
PLAIN = re.compile(r"[A-Za-z0-9 .,:;%±_/+-]{0,200}")
"""Text in which there is nothing to escape or to clean."""
Attribute = str | int | float | bool | None


class Markup(str):
    """Finished markup; any other string is text and is escaped."""

    __slots__ = ()


Child = Markup | str | int | float | None


def element(name: str, *children: Child, **attributes: Attribute) -> Markup:
    """One element. `class_` and `data_x` become class and data-x; None and False leave an attribute out."""
    opening = f"<{name}{_attributes(attributes)}"
    if name in VOID and not children:
        return Markup(
            f"{opening}/>" if name in {"path", "circle", "line", "rect", "polygon"} else f"{opening}>"
        )
    return Markup(f"{opening}>{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Children one after the other, text escaped."""
    return Markup("".join([_child(child) for child in children if child is not None]))


def _child(child: Child) -> str:
    return child if isinstance(child, Markup) else _escape(str(child))


def _escape(text: str) -> str:
    return text if PLAIN.fullmatch(text) else html.escape(clean(text, limit=100_000), quote=True)


def _attributes(attributes: dict[str, Attribute]) -> str:
    return "".join(
        [
            _attribute(name, value)
            for name, value in attributes.items()
            if value is not None and value is not False
        ]
    )


def _attribute(name: str, value: Attribute) -> str:
    shown = _shown(name)
    if value is True:
        return f" {shown}"
    if isinstance(value, float):
        number = f"{value:.2f}".rstrip("0").rstrip(".")
        return f' {shown}="{number}"'
    return f' {shown}="{_escape(str(value))}"'


@lru_cache(maxsize=256)
def _shown(name: str) -> str:
    return name.rstrip("_").replace("_", "-")
