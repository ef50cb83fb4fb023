"""A campaign's part in the tests of strategies: it obeys moves and keeps the history."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from autotune.errors import LaunchCause
from autotune.model.bracket import RequestBlocks
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome
from autotune.model.measurement import Invalid, InvalidReason, Measurement
from autotune.model.move import Finish, Launch, Measure, Move
from autotune.search.space import Space

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small matrices; set before numpy is imported

Read = Callable[[LaunchRecord, Measure], Measurement | Invalid | LaunchCause]
Start = Callable[[LaunchRecord], LaunchCause | None]


@dataclass
class Played:
    """What came of a search."""

    finish: Finish
    history: History
    steps: list[tuple[History, Move]] = field(default_factory=list)

    @property
    def sizes(self):
        return [launch.settings.max_batch_size for launch in self.history.launches]

    @property
    def purposes(self):
        return [launch.purpose.value for launch in self.history.launches]


def play(strategy, read: Read, start: Start = lambda _: None, *, launches=12, blocks=2176, most_moves=400):
    """Obey a strategy until it ends. `start`: why a launch fails; `read`: a level, or why it died."""
    history = History(budget=BudgetLeft(launches=launches))
    steps = []
    for _ in range(most_moves):
        move = strategy.next_move(history)
        steps.append((history, move))
        if isinstance(move, Finish):
            return Played(finish=move, history=history, steps=steps)
        history = (
            _launch(history, move, start, blocks) if isinstance(move, Launch) else _level(history, move, read)
        )
    raise AssertionError("the search does not end")


def _launch(history, move, start, blocks):
    assert history.budget.launches > 0, "launched beyond the budget"
    done = tuple(
        replace(launch, outcome=Outcome.ENDED) if launch.outcome is Outcome.PENDING else launch
        for launch in history.launches
    )
    record = LaunchRecord(number=len(done) + 1, purpose=move.purpose, settings=move.settings)
    cause = start(record)
    record = (
        replace(record, blocks=blocks)
        if cause is None
        else replace(record, outcome=Outcome.FAILED, cause=cause)
    )
    return History(launches=(*done, record), budget=BudgetLeft(launches=history.budget.launches - 1))


def _level(history, move, read):
    assert isinstance(move, Measure), "nothing else is left"
    running = history.running
    assert running is not None, "measured without a running launch"
    level = read(running, move)
    if isinstance(level, LaunchCause):
        died = Invalid(concurrency=move.concurrency, reason=InvalidReason.SERVICE_DIED)
        record = replace(running, levels=(*running.levels, died), outcome=Outcome.FAILED, cause=level)
    else:
        record = replace(running, levels=(*running.levels, level))
    return replace(history, launches=(*history.launches[:-1], record))


def measured(concurrency, tokens_per_second, half_width=0.01, **more):
    return Measurement(
        concurrency=concurrency,
        tokens_per_second=tokens_per_second,
        half_width=half_width,
        whole_run_tokens_per_second=0.8 * tokens_per_second,
        seconds=180.0,
        requests=2000,
        completed=2000,
        **more,
    )


def read_curve(curve):
    """Readings straight from a curve of max_batch_size; a sweep level runs min(concurrency, limit)."""
    return lambda launch, move: measured(
        move.concurrency, curve(min(launch.settings.max_batch_size, move.concurrency)), move.half_width
    )


class Tools:
    """What the tests of this folder share."""

    play = staticmethod(play)
    measured = staticmethod(measured)
    read_curve = staticmethod(read_curve)

    @staticmethod
    def space(**changes):
        """The worked example of the vendor's tuning guide: 2176 blocks, 1, 4 and 6 blocks a request."""
        values = {
            "incumbent": None,
            "request": RequestBlocks(min_blocks=2, mean_blocks=5, max_blocks=6),
            "mean_input_tokens": 186.0,
            "max_input_token_len": 2048,
            "bounds_high": 5000,
            "concurrency": 1306,
            "blocks": 2176,
        }
        return Space(**(values | changes))


@pytest.fixture
def tools():
    return Tools
