"""A strategy in under 100 lines: double until it drops, then the middle beside the best."""

from autotune.model.launch import History, Purpose
from autotune.model.move import Finish, Launch, Move, VerdictCode
from autotune.search.evidence import evidence_of, first_blocks, read_or_give_up
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.statistics.compare import LaunchReading, compare, mean_reading


class Doubling:
    """Pure: everything is worked out from the history, nothing is kept between two calls."""

    def __init__(self, space: Space, options: Options) -> None:
        self._space, self._options = space, options

    def next_move(self, history: History) -> Move:
        """The reading of the running launch, the next size, or the best."""
        first = read_or_give_up(history, self._space.concurrency, self._options.final_half_width)
        if first is not None:
            return first
        speeds = self._speeds(history)
        following = self._next(history, speeds)
        if following is not None and history.budget.launches > 0:
            settings = self._space.settings_for(following)
            return Launch(
                settings=settings, purpose=Purpose.CANDIDATE, reason="twice the last, or the middle"
            )
        if not speeds:
            return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason="no value could be measured")
        best = max(speeds, key=lambda size: speeds[size])
        reason = "it dropped on both sides" if following is None else "the budget is used"
        return Finish(settings=self._space.settings_for(best), code=VerdictCode.IMPROVED, reason=reason)

    def _speeds(self, history: History) -> dict[int, float]:
        """Mean reading of each candidate size."""
        sizes = {
            launch.settings.max_batch_size
            for launch in history.launches
            if launch.purpose is Purpose.CANDIDATE
        }
        found = {size: self._evidence(history, size) for size in sorted(sizes)}
        return {size: mean_reading(each).tokens_per_second for size, each in found.items() if each}

    def _evidence(self, history: History, size: int) -> tuple[LaunchReading, ...]:
        return evidence_of(history, self._space.settings_for(size), self._space.concurrency).readings

    def _next(self, history: History, speeds: dict[int, float]) -> int | None:
        low = self._space.nearest(self._space.bracket(first_blocks(history)).low)
        if not speeds:
            return low
        largest = max(speeds)
        dropped = (
            len(speeds) > 1
            and compare(
                self._evidence(history, max(speeds, key=lambda size: speeds[size])),
                self._evidence(history, largest),
            ).worse
        )
        if not dropped and largest < self._space.highest:
            return self._space.nearest(2 * largest)
        best = max(speeds, key=lambda size: speeds[size])
        above = min((size for size in speeds if size > best), default=best)
        middle = self._space.nearest((best + above) / 2)
        return middle if middle not in speeds else None
