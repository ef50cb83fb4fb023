"""Repeats: how sure a speed is that another tool reports, from whole runs that were repeated."""

import math
from collections.abc import Sequence

from autotune.statistics.student import t_quantile

ASSUMED_HALF_WIDTH = 0.03
"""Of one run that nothing was repeated with. Runs at 8 clients and more differ by 0.4 to 0.7 % (coefficient
of variation, public reports on vLLM); whole runs hold ramp and drain as well, which differ more."""
_FINEST_HALF_WIDTH = 0.001
"""Below it the tools' own rounding and clocks decide."""
_CONFIDENCE = 0.95


class Repeats:
    """The spread between runs of the same level, as fractions of their mean, over all levels so far.

    Two runs alone give one degree of freedom and a very wide interval; the levels of a campaign share theirs.
    """

    def __init__(self) -> None:
        self._squares = 0.0
        self._freedom = 0

    def add(self, speeds: Sequence[float]) -> None:
        """Take the runs of one level; a single one tells nothing."""
        mean = math.fsum(speeds) / len(speeds)
        self._squares += math.fsum((speed / mean - 1.0) ** 2 for speed in speeds)
        self._freedom += len(speeds) - 1

    @property
    def known(self) -> bool:
        """Whether any level was repeated."""
        return self._freedom > 0

    def half_width(self, runs: int) -> float:
        """Half of the 95 % interval of the mean of `runs` runs, a fraction; assumed where none is known."""
        if not self.known:
            return ASSUMED_HALF_WIDTH
        spread = math.sqrt(self._squares / self._freedom)
        quantile = t_quantile(0.5 + _CONFIDENCE / 2.0, self._freedom)
        return max(_FINEST_HALF_WIDTH, quantile * spread / math.sqrt(runs))
