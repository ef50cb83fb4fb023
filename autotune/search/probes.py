"""Probes: the two settings beside the incumbent that a night looks at."""

import math

from autotune.model.settings import Settings
from autotune.search.night_memory import Memory, completed
from autotune.search.space import Space
from autotune.statistics.drift import Night, mean_log

RATIOS = (1.25, 1.5, 2.0, 2.5)
ENOUGH_LOSS = 0.06
"""A probe that usually loses so much shows a moved optimum best: it then gains where it used to lose."""
_EDGE = 0.95
"""Nothing nearer to a size that lacked memory is started."""
_NEAREST = 1.08


def probe_sizes(space: Space, incumbent: Settings, memory: Memory) -> tuple[int, ...]:
    """One size above and one below, as near as history lets a moved optimum show."""
    size = incumbent.max_batch_size
    sizes = [_probe(space, incumbent, memory, upward=upward) for upward in (True, False)]
    return tuple(each for each in dict.fromkeys(sizes) if each is not None and each != size)


def usual_loss(space: Space, incumbent: Settings, memory: Memory, size: int) -> float | None:
    """How much slower than the incumbent a size usually is, as a fraction; None when it is not known."""
    theirs = memory.of(completed(space.settings_for(size), incumbent))
    ours = memory.of(incumbent)
    if not theirs or not ours:
        return None
    return -math.expm1(_level(theirs) - _level(ours))


def _probe(space: Space, incumbent: Settings, memory: Memory, *, upward: bool) -> int | None:
    size = incumbent.max_batch_size
    last: int | None = None
    for ratio in RATIOS:
        found = _allowed(space, memory, size * ratio if upward else size / ratio)
        if found is None or not _apart(size, found):
            continue
        last = found
        loss = usual_loss(space, incumbent, memory, found)
        if loss is None or loss >= ENOUGH_LOSS:
            return found
    return last


def _allowed(space: Space, memory: Memory, wanted: float) -> int | None:
    edge = memory.fails_at * _EDGE if memory.fails_at is not None else math.inf
    return space.at_most(min(edge, space.nearest(wanted)))


def _apart(size: int, found: int) -> bool:
    return max(size, found) >= _NEAREST * min(size, found)


def _level(nights: tuple[Night, ...]) -> float:
    return math.fsum(mean_log(night) for night in nights) / len(nights)
