"""Sweep: which concurrency the scout's launch reads next."""

import math
from itertools import pairwise

from autotune.search.observations import Row

MOST_LEVELS = 8
RESTLESS_SECONDS = 240.0
"""Longest sweep level of a service whose incumbent could not be read to the wanted half-width: it is read by
the rule of final levels, since a short look at such a service tells next to nothing."""
FAR_SECONDS = 120.0
"""The same for levels that are far from the best one so far."""
_BELOW_START = 1.6
_SMALLEST_STEP = 1.2
_LARGEST_STEP = 1.6
_STEPS_TO_TOP = 5
_DROP = 0.08
"""A level this far below the peak shows that the peak is passed."""
_FILL_STEP = 1.12
"""Neighbours of the peak that are further apart get a level between them."""
_BEYOND_PEAK = 1.06
_ROUND = sorted({2**k for k in range(20)} | {3 * 2**k for k in range(19)})
"""Sizes that graph captures and tiles favour; levels lie on them, so that the sweep sees the upper side of a
saw tooth."""


def next_level(rows: tuple[Row, ...], *, start: int, low: int, limit: int) -> int | None:
    """The next concurrency, or None when the sweep is done.

    Upward from below the start until the peak is passed or the limit is reached, downward if the peak is
    at the first level; then just beyond the peak, where a saw tooth would show, and between the peak and
    its neighbours; the first level once more at the end.
    """
    first = _rounded(min(max(low, round(start / _BELOW_START)), limit), low, limit)
    levels = [row.size for row in rows]
    if not levels:
        return first
    if len(levels) >= MOST_LEVELS or (len(levels) > 1 and levels[-1] == levels[0]):
        return None
    if len(levels) == MOST_LEVELS - 1:
        return levels[0]
    step = min(max((limit / first) ** (1.0 / _STEPS_TO_TOP), _SMALLEST_STEP), _LARGEST_STEP)
    speeds = {row.size: row.log_speed for row in rows}
    following = (
        _outward(speeds, step, low=low, limit=limit)
        or _top(speeds, limit)
        or _tooth(speeds, limit)
        or _between(speeds)
    )
    return following if following is not None and following not in speeds else levels[0]


def _rounded(size: float, low: int, limit: int) -> int:
    """The round size nearest in ratio, inside the bounds; the size itself when it is small."""
    whole = min(max(low, round(size)), limit)
    if whole < _ROUND[6]:
        return whole
    inside = [each for each in _ROUND if low <= each <= limit]
    nearest = min(inside, key=lambda each: abs(math.log(each / whole)), default=whole)
    return nearest if abs(math.log(nearest / whole)) < math.log(1.0 / 0.8) else whole


def _outward(speeds: dict[int, float], step: float, *, low: int, limit: int) -> int | None:
    top, bottom = max(speeds), min(speeds)
    peak = max(speeds, key=lambda size: speeds[size])
    passed = speeds[top] < speeds[peak] - _DROP
    if top < limit and not passed:
        following = _rounded(top * step, low, limit)
        return following if following > top * _FILL_STEP else min(limit, max(top + 1, round(top * step)))
    if peak == bottom and bottom > low:
        following = _rounded(bottom / step, low, limit)
        return following if following < bottom else max(low, min(bottom - 1, round(bottom / step)))
    return None


def _top(speeds: dict[int, float], limit: int) -> int | None:
    """The limit itself, when it is far beyond all levels: throughput may rise a second time."""
    return limit if limit > max(speeds) * _LARGEST_STEP else None


def _tooth(speeds: dict[int, float], limit: int) -> int | None:
    """An odd size just beyond the peak, once."""
    peak = max(speeds, key=lambda size: speeds[size])
    beyond = int(peak * _BEYOND_PEAK) | 1
    near = [size for size in speeds if peak < size <= peak * _FILL_STEP]
    return beyond if peak < beyond < limit and not near and peak >= _ROUND[6] else None


def _between(speeds: dict[int, float]) -> int | None:
    """Middle of the wider gap beside the peak."""
    sizes = sorted(speeds)
    peak = max(speeds, key=lambda size: speeds[size])
    gaps = [(b / a, a, b) for a, b in pairwise(sizes) if peak in {a, b} and b > max(a + 1, a * _FILL_STEP)]
    if not gaps:
        return None
    _, a, b = max(gaps)
    return round(math.sqrt(a * b))
