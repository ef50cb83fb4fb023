"""Safe text: what came from logs, models and files, made harmless for each place where it is shown."""

import re
import unicodedata

LONGEST = 600
ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
KEPT_WHITE_SPACE = frozenset("\n\t")
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories that are dropped: controls, format marks (bidi overrides among them), surrogates."""
INLINE_SIGNS = r"[\\`*_\[\]<|~$]|&(?=#?\w+;)"
MARKDOWN_CELL_SIGNS = re.compile(INLINE_SIGNS)
MARKDOWN_SIGNS = re.compile(rf"{INLINE_SIGNS}|^(?:[-+=>#]|\d+(?=[.)]))")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def clean(text: str, limit: int = LONGEST) -> str:
    """`text` without terminal sequences and unseen characters, at most `limit` characters long.

    Line breaks and tabs stay. What is cut off is counted at the end.
    """
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    head = text[: 4 * limit]
    seen = ESCAPE_SEQUENCE.sub("", head).replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(
        sign for sign in seen if sign in KEPT_WHITE_SPACE or unicodedata.category(sign) not in UNSEEN
    )
    left_out = max(len(kept) - limit, 0) + len(text) - len(head)
    return f"{kept[:limit]}… (+{left_out})" if left_out else kept


def one_line(text: str, limit: int = LONGEST) -> str:
    """The same on one line."""
    return " ".join(clean(text, limit).split())


def markdown(text: str, limit: int = LONGEST) -> str:
    """`text` as Markdown that shows it literally, on one line."""
    return MARKDOWN_SIGNS.sub(_escaped, one_line(text, limit))


def markdown_cell(text: str, limit: int = LONGEST) -> str:
    """The same for a table's cell, where a number or a sign at the beginning starts no list or heading."""
    return MARKDOWN_CELL_SIGNS.sub(_escaped, one_line(text, limit))


def _escaped(found: re.Match[str]) -> str:
    sign = found.group()
    return f"{sign}\\" if sign.isdigit() else f"\\{sign}"


def code_block(text: str, language: str = "", limit: int = 100_000) -> str:
    """`text` as a fenced Markdown block whose fence is longer than any in the text."""
    shown = clean(text, limit).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def csv_cell(text: str, limit: int = LONGEST) -> str:
    """`text` for a spreadsheet: one line, and never a formula."""
    shown = one_line(text, limit)
    return f"'{shown}" if shown.startswith(FORMULA_STARTS) else shown


def patch(text: str) -> str:
    """A patch that still applies: line ends stay as they are, other control characters go."""
    seen = ESCAPE_SEQUENCE.sub("", text)
    return "".join(sign for sign in seen if sign in "\n\t\r" or unicodedata.category(sign) not in UNSEEN)


def plot_label(text: str, limit: int = 80) -> str:
    """`text` for matplotlib, which takes `$` for mathematics."""
    return one_line(text, limit).replace("$", r"\$")
