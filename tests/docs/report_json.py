"""docs/report-json.md as it follows from the shipped schema."""

from autotune.report.document import schema

HEAD = """# report.json
Written beside every report, and printed by `autotune tune --json` and `autotune report RUN --json`. Its
schema is shipped as `autotune/report/report.schema.json` (JSON Schema, draft 2020-12); this page is made from
it.

Fractions are fractions (0.047 is 4.7 %), times are seconds, latencies are milliseconds, moments are seconds
since the epoch. An interval is 95 % and given as its half, a fraction of the reading. `null` is what is not
known or not finite. Texts come from logs and models: they are cut to 600 characters and hold no control
characters, and they are data, not markup. Only `verdict.text` and `next_step` depend on the language.
"""
ARRAY = "[]"


def page():
    """The whole page."""
    shipped = schema()
    parts = [HEAD, "## The document", table(shipped)]
    for name, shape in shipped["$defs"].items():
        parts += [f"## {name}", *([shape["description"]] if "description" in shape else []), table(shape)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table(shape):
    """One row a key, those of inner objects below their own."""
    rows = "\n".join(f"| `{name}` | {kind} | {text} |" for name, kind, text in keys(shape, ""))
    return f"| key | type | what |\n|---|---|---|\n{rows}"


def keys(shape, before):
    """Name, type and description of every key."""
    for name, inner in shape.get("properties", {}).items():
        place = f"{before}{name}"
        yield place, kind(inner), inner.get("description", "")
        for part in (inner, *inner.get("anyOf", ())):
            yield from keys(part, f"{place}.")
            if "items" in part:
                yield from keys(part["items"], f"{place}{ARRAY}.")
    more = shape.get("additionalProperties")
    if isinstance(more, dict):
        yield f"{before}*", kind(more), more.get("description", "")


def kind(shape):
    """The type in words."""
    if "$ref" in shape:
        name = shape["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name})"
    if "const" in shape:
        return f"`{shape['const']}`"
    if "enum" in shape:
        return ", ".join(f"`{value}`" for value in shape["enum"])
    if "anyOf" in shape or "oneOf" in shape:
        return " or ".join(kind(part) for part in shape.get("anyOf") or shape["oneOf"])
    if shape.get("type") == "array":
        return f"array of {kind(shape['items'])}"
    return shape.get("type", "anything") if isinstance(shape.get("type"), str) else " or ".join(shape["type"])
