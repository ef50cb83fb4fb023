"""Candidates: the batch sizes that a search weighs against each other."""

from autotune.model.bracket import Bracket
from autotune.search.space import Space

_LOG_STEP = 1.02
_REACH = 2.0
"""How far beyond the bracket they reach, both ways."""
_FINE_UP_TO = 300


def candidate_sizes(space: Space, bracket: Bracket, seen: tuple[int, ...] = ()) -> tuple[int, ...]:
    """What may be chosen, ascending, all of it allowed by the space.

    A 2 % log grid, multiples of 4 or 16, powers of two and halves between them, the bracket's own values
    and what was launched already.
    """
    low, high = bracket.low / _REACH, bracket.high * _REACH
    tile = 4 if bracket.high <= _FINE_UP_TO else 16
    wished: list[float] = [bracket.low, bracket.start, bracket.high, *seen]
    size = max(1.0, low)
    while size <= high:
        wished.append(size)
        size *= _LOG_STEP
    wished += range(tile, int(min(high, 64 * tile)) + 1, tile)
    wished += [factor * 2**power for power in range(16) for factor in (1, 3)]
    inside = {space.nearest(each) for each in wished if low <= each <= high or each in seen}
    return tuple(sorted(inside))
