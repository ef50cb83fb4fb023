"""Plays our own strategies against the oracle, move by move."""

from dataclasses import dataclass, replace

from autotune.errors import LaunchCause
from autotune.model.bracket import Bracket, RequestBlocks
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Invalid, InvalidReason, Level, Measurement
from autotune.model.move import Finish, Launch, Measure
from autotune.model.settings import Settings
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.search.strategy import Strategy, make_inner, make_strategy
from tests.bench.search.curves import Curve
from tests.bench.search.oracle import Oracle


@dataclass(frozen=True, kw_only=True)
class CurveSpace(Space):
    """A space whose bracket is the curve's own."""

    own: Bracket

    def bracket(self, blocks: int | None = None, source: str | None = None) -> Bracket:
        """The curve's."""
        del blocks, source
        return self.own


@dataclass(frozen=True, kw_only=True)
class Played:
    """The answer of the search before and after its confirmation, and what it cost."""

    found: int | None
    answer: int | None
    code: str
    launches: int
    confirmed_launches: int
    search_seconds: float
    """Before the first confirmation launch."""
    memory_failures: int
    history: History


def space_of(curve: Curve) -> CurveSpace:
    """What a strategy is told of a curve."""
    return CurveSpace(
        incumbent=Settings(max_batch_size=curve.incumbent),
        request=RequestBlocks(min_blocks=1, mean_blocks=1, max_blocks=1),
        mean_input_tokens=186.0,
        max_input_token_len=2048,
        bounds_low=curve.bounds_low,
        bounds_high=curve.bounds_high,
        concurrency=max(2, round(1.2 * max(curve.bounds_high, curve.incumbent))),
        blocks=curve.blocks,
        tune_prefill=False,
        own=Bracket(
            low=curve.low,
            start=curve.start,
            high=curve.high,
            start_prefill=max(1, curve.start // 2),
            blocks=curve.blocks,
            source="profile",
        ),
    )


def play(name: str, oracle: Oracle, options: Options) -> Played:
    """One whole campaign."""
    space = space_of(oracle.curve)
    start = History(budget=BudgetLeft(launches=options.max_launches))
    history, finish = played_out(make_strategy(name, space, options), start, oracle)
    return _summary(name, space, options, oracle, history, finish)


def played_out(strategy: Strategy, history: History, oracle: Oracle) -> tuple[History, Finish]:
    """Obey a strategy until it ends."""
    while True:
        move = strategy.next_move(history)
        if isinstance(move, Finish):
            return history, move
        if isinstance(move, Launch):
            history = _launch(history, move, oracle)
        else:
            assert isinstance(move, Measure)
            history = _measure(history, move, oracle)


def _launch(history: History, move: Launch, oracle: Oracle) -> History:
    done = tuple(
        replace(each, outcome=Outcome.ENDED) if each.outcome is Outcome.PENDING else each
        for each in history.launches
    )
    record = LaunchRecord(
        number=len(done) + 1, purpose=move.purpose, settings=move.settings, blocks=oracle.curve.blocks
    )
    if move.purpose is Purpose.CONFIRMATION:
        oracle.search_is_over()
    if not oracle.start(move.settings.max_batch_size):
        record = replace(record, outcome=Outcome.FAILED, cause=LaunchCause.MEMORY, blocks=None)
    return History(launches=(*done, record), budget=BudgetLeft(launches=history.budget.launches - 1))


def _measure(history: History, move: Measure, oracle: Oracle) -> History:
    running = history.running
    assert running is not None
    read = oracle.measure(move.concurrency, move.half_width, move.stop_below, move.longest_seconds)
    if read is None:
        level: Level = Invalid(concurrency=move.concurrency, reason=InvalidReason.SERVICE_DIED)
        record = replace(
            running, levels=(*running.levels, level), outcome=Outcome.FAILED, cause=LaunchCause.CRASHED
        )
    else:
        level = Measurement(
            concurrency=move.concurrency,
            tokens_per_second=read.tokens_per_second,
            half_width=read.half_width,
            whole_run_tokens_per_second=read.tokens_per_second,
            seconds=read.seconds,
            requests=1000,
            completed=1000,
            running_mean=read.running_mean,
            preemptions=read.preemptions,
        )
        record = replace(running, levels=(*running.levels, level))
    return replace(history, launches=(*history.launches[:-1], record))


def _summary(
    name: str, space: Space, options: Options, oracle: Oracle, history: History, finish: Finish
) -> Played:
    own = tuple(each for each in history.launches if each.purpose is not Purpose.CONFIRMATION)
    left = History(launches=own, budget=BudgetLeft(launches=0))
    inner = make_inner(name, space, options).next_move(left)
    found = inner.settings if isinstance(inner, Finish) else None
    return Played(
        found=None if found is None else found.max_batch_size,
        answer=None if finish.settings is None else finish.settings.max_batch_size,
        code=finish.code.value,
        launches=len(own),
        confirmed_launches=len(history.launches),
        search_seconds=oracle.search_seconds,
        memory_failures=sum(each.cause is LaunchCause.MEMORY for each in history.launches),
        history=history,
    )
