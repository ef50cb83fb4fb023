"""Strategy: what chooses the next move, and how one is made by its name."""

from typing import Protocol

from autotune.errors import UsageError
from autotune.model.launch import History
from autotune.model.move import Move
from autotune.search.options import Options
from autotune.search.space import Space


class Strategy(Protocol):
    """A pure choice: the same history gives the same move, and nothing is kept between calls."""

    def next_move(self, history: History) -> Move:
        """What to do next. With no launches left in the budget, a Finish with the best so far."""


NAMES = ("guide", "grid", "scout")


def make_strategy(name: str, space: Space, options: Options) -> Strategy:
    """A strategy with the incumbent's launch before and the confirmation after it.

    Raises UsageError for a name that is not in NAMES.
    """
    from autotune.search.confirmation import Confirmed

    return Confirmed(make_inner(name, space, options), space, options)


def make_inner(name: str, space: Space, options: Options) -> Strategy:
    """The strategy alone, without the incumbent's launch and without confirmation."""
    from autotune.search.grid import Grid
    from autotune.search.guide import Guide

    if name == "guide":
        return Guide(space, options)
    if name == "grid":
        return Grid(space, options)
    if name == "scout":
        from autotune.search.scout import Scout

        return Scout(space, options)
    raise UsageError(f"no strategy named {name!r}", hint=f"one of: {', '.join(NAMES)}")
