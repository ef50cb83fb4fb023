"""Text table: rows in straight columns for terminals and logs, East-Asian signs taken for two cells."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

GAP = "  "
LEAST = 8
"""The first column is cut down to so many cells where the terminal is narrow."""


def text_table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int], width: int | None = None
) -> tuple[str, ...]:
    """Lines with the titles first; columns in `right` end at one edge.

    Columns without any text are left out. Where `width` is too small the last columns go first, and then
    the first column is cut.
    """
    filled = [at for at in range(len(titles)) if any(row[at] for row in rows)]
    kept = list(filled)
    widths = {at: max(cell_len(titles[at]), *(cell_len(row[at]) for row in rows)) for at in filled}
    while width is not None and len(kept) > 1 and _total(kept, widths, LEAST) > width:
        kept.pop()
    if width is not None and _total(kept, widths, widths[kept[0]]) > width:
        widths[kept[0]] = max(LEAST, widths[kept[0]] - _total(kept, widths, widths[kept[0]]) + width)
    return tuple(
        GAP.join(_fitted(line[at], widths[at], is_right=at in right) for at in kept).rstrip()
        for line in (titles, *rows)
    )


def _total(kept: Sequence[int], widths: dict[int, int], first: int) -> int:
    rest = sum(widths[at] for at in kept[1:])
    return min(first, widths[kept[0]]) + rest + len(GAP) * (len(kept) - 1)


def _fitted(text: str, width: int, *, is_right: bool) -> str:
    if cell_len(text) > width:
        return set_cell_size(text, width - 1) + "…"
    gap = " " * (width - cell_len(text))
    return gap + text if is_right else text + gap
