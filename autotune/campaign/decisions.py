"""Which moves are kept as decisions, and what of them."""

from collections.abc import Sequence

from autotune.model.campaign import Decision
from autotune.model.launch import LaunchRecord
from autotune.model.move import Finish, Launch, Measure


def decision_of(move: Launch | Measure | Finish, launches: Sequence[LaunchRecord]) -> Decision:
    """The decision that a strategy took after these launches and their levels."""
    return Decision(
        after_launches=len(launches),
        after_levels=sum(len(launch.levels) for launch in launches),
        kind=type(move).__name__.lower(),
        settings=None if isinstance(move, Measure) else move.settings,
        concurrency=move.concurrency if isinstance(move, Measure) else None,
        reason=move.reason,
        expected=move.expected if isinstance(move, Launch) else None,
        because=move.because,
    )
