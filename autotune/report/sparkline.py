"""Sparkline: a series of readings as a few signs, for tables on a terminal."""

from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.-=*#"


def sparkline(
    values: Sequence[float], *, width: int = 20, ascii_only: bool = False, least_span: float = 0.0
) -> str:
    """One sign a value, lowest to highest over the range of all of them; only the last `width` are shown.

    `least_span`: the range is at least this fraction of the highest value, so that noise looks like noise.
    """
    shown = values[-width:]
    if not shown:
        return ""
    signs = ASCII if ascii_only else BLOCKS
    low, high = min(shown), max(shown)
    if low == high:
        return signs[len(signs) // 2] * len(shown)
    missing = max(0.0, least_span * high - (high - low))
    low, high = low - missing / 2, high + missing / 2
    top = len(signs) - 1
    return "".join(signs[round(top * (value - low) / (high - low))] for value in shown)
