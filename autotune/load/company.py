"""Company: how many client processes the next level needs."""

import math

_BUSY_SHARE = 0.7
"""Of one core: a client process that is busier gets company before it comes too late."""
_EASY_SHARE = 0.5
"""What each process shall have after that."""


def is_busy(share: float) -> bool:
    """Whether a process with this share of a core needs help."""
    return share > _BUSY_SHARE


def processes_wanted(workers: int, share: float, most: int) -> int:
    """Processes for the next level, at most `most`; never fewer than now.

    `share` is what the busiest of `workers` processes used of its core.
    """
    if not is_busy(share):
        return workers
    return max(workers, min(most, max(workers + 1, math.ceil(workers * share / _EASY_SHARE))))
