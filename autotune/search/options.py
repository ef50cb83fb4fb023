"""Options: how a search is to be done, apart from what it searches."""

from dataclasses import dataclass

from autotune.errors import UsageError
from autotune.model.limit import Limit


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Choices that a user makes; widths, gains and margins are fractions."""

    step: int = 100
    """Step of the guide and the grid."""
    max_launches: int = 12
    """Most launches of a campaign, confirmation included."""
    knobs: tuple[str, ...] = ("max_batch_size",)
    seed: int = 1
    scout_half_width: float = 0.02
    """Wanted half-width of sweep levels."""
    final_half_width: float = 0.01
    """Wanted half-width of levels that are compared."""
    least_gain: float = 0.01
    """Smallest gain that replaces the incumbent."""
    margin: float = 0.01
    """Settings closer than this are equal."""
    limits: tuple[Limit, ...] = ()
    """What a setting must keep to be recommended."""
    confidence: float = 0.95
    """Of the one-sided bound of the gain."""

    def __post_init__(self) -> None:
        """Raise UsageError for values that no search can work with."""
        if self.step < 1 or self.max_launches < 1:
            raise UsageError("search.step and search.max_launches must be at least 1")
        if not 0.0 < self.final_half_width < 1.0 or not 0.0 < self.scout_half_width < 1.0:
            raise UsageError("half-widths must lie between 0 and 100 %")
