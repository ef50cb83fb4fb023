"""Markup: HTML and SVG as values that escape whatever is put into them."""

import html

from autotune.report.safe_text import clean

VOID = frozenset({"meta", "br", "hr", "img", "link", "path", "circle", "line", "rect", "use", "polygon"})
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
    return Markup("".join(_child(child) for child in children if child is not None))


def _child(child: Child) -> str:
    return child if isinstance(child, Markup) else _escape(str(child))


def _escape(text: str) -> str:
    return html.escape(clean(text, limit=100_000), quote=True)


def _attributes(attributes: dict[str, Attribute]) -> str:
    parts = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        shown = name.rstrip("_").replace("_", "-")
        number = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        parts.append(f" {shown}" if value is True else f' {shown}="{_escape(number)}"')
    return "".join(parts)
