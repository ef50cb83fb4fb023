"""Strategy: what chooses the next move, and how one is made by its name."""

from typing import Protocol

from autotune.errors import UsageError
from autotune.model.launch import History
from autotune.model.move import Move
from autotune.model.proposal import Proposals
from autotune.search.options import Options
from autotune.search.space import Space


class Strategy(Protocol):
    """A pure choice: the same history gives the same move, and nothing is kept between calls."""

    def next_move(self, history: History) -> Move:
        """What to do next. With no launches left in the budget, a Finish with the best so far."""


NAMES = ("guide", "grid", "scout")
WITH_PROPOSALS = "multi"
"""The one that also asks a sampler, which has to be passed in."""


class Informed:
    """A confirmed strategy over the space as far as the history has told it (see `informed`)."""

    def __init__(self, name: str, space: Space, options: Options, proposals: Proposals | None = None) -> None:
        self._name = name
        self._space = space
        self._options = options
        self._proposals = proposals

    def next_move(self, history: History) -> Move:
        """The move of the confirmed strategy for what is known now."""
        from autotune.search.confirmation import Confirmed
        from autotune.search.informed import informed

        space = informed(self._space, history)
        inner = make_inner(self._name, space, self._options, self._proposals)
        return Confirmed(inner, space, self._options).next_move(history)


def make_strategy(name: str, space: Space, options: Options, proposals: Proposals | None = None) -> Strategy:
    """A strategy with the incumbent's launch before and the confirmation after it.

    Raises UsageError for an unknown name, and for multi without `proposals`.
    """
    make_inner(name, space, options, proposals)  # a wrong name is refused now, not in the first move
    return Informed(name, space, options, proposals)


def make_inner(name: str, space: Space, options: Options, proposals: Proposals | None = None) -> Strategy:
    """The strategy alone, without the incumbent's launch and without confirmation."""
    from autotune.search.grid import Grid
    from autotune.search.guide import Guide
    from autotune.search.limits import Judged

    if name == "guide":
        return Judged(Guide(space, options), options.limits, space.concurrency)
    if name == "grid":
        return Judged(Grid(space, options), options.limits, space.concurrency)
    from autotune.search.scout import Scout

    if name == "scout":
        return Scout(space, options)
    if name != WITH_PROPOSALS:
        raise UsageError(f"no strategy named {name!r}", hint=f"one of: {', '.join((*NAMES, WITH_PROPOSALS))}")
    if proposals is None:
        raise UsageError(f"strategy {name} needs a sampler's proposals")
    from autotune.search.multi import Multi

    return Multi(Scout(space, options), space, options, proposals)
