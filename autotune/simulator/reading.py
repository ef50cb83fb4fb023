"""Reading a simulated load test: as the vendor's benchmark does, or in the steady state."""

from dataclasses import dataclass

from autotune.model.measurement import Distribution
from autotune.simulator.closed_loop import ClosedLoop, Load
from autotune.simulator.cost import StepCost
from autotune.simulator.latency import distribution_ms, e2e_seconds, tpot_seconds, ttft_seconds
from autotune.simulator.lengths import Lengths
from autotune.simulator.policies import Rules, make_scheduler
from autotune.simulator.work import Work


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """How long to look, in finished requests.

    `settle` residence times of the running sequences are left out first, then `requests` are counted.
    """

    settle: float = 3.0
    requests: int = 2000


STEADY = Window()


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What a window, or a whole run, gave."""

    tokens_per_second: float
    tokens: int
    seconds: float
    running_mean: float
    preemptions: int
    requests: int
    ttft_ms: Distribution
    tpot_ms: Distribution
    e2e_ms: Distribution
    work: Work


def whole_run(rules: Rules, cost: StepCost, load: Load) -> Reading:
    """From the first request to the last reply, as the vendor's benchmark reads it.

    Start and tail count, so it is lower than the steady state. `load.requests` must be given.
    """
    return _read(ClosedLoop(make_scheduler(rules), cost, load), settled=0, completions=load.requests or 0)


def steady_state(rules: Rules, cost: StepCost, load: Load, window: Window) -> Reading:
    """A window after the start, while clients keep sending. `load.requests` is not looked at."""
    endless = Load(lengths=load.lengths, concurrency=load.concurrency)
    loop = ClosedLoop(make_scheduler(rules), cost, endless)
    settled = _settled(rules, load, window)
    return _read(loop, settled=settled, completions=settled + window.requests)


def _settled(rules: Rules, load: Load, window: Window) -> int:
    """Completions until `window.settle` generations of running sequences have gone by."""
    served = min(rules.max_batch_size, load.concurrency, _most_at_once(rules, load.lengths))
    return round(window.settle * served)


def _most_at_once(rules: Rules, lengths: Lengths) -> int:
    """How many sequences of mean length the blocks hold."""
    mean = rules.blocks_for(round(lengths.mean_prompt + lengths.mean_output / 2))
    return max(1, rules.blocks // mean)


def _read(loop: ClosedLoop, *, settled: int, completions: int) -> Reading:
    _go_on(loop, settled)
    begin, tokens, preemptions = loop.now, loop.tokens, loop.preemptions
    running, work, done = loop.running_seconds, loop.work.copy(), loop.completed
    _go_on(loop, completions)
    seconds = loop.now - begin
    counted = loop.finished[done:]
    several = [sequence for sequence in counted if sequence.output_tokens > 1]
    return Reading(
        tokens_per_second=(loop.tokens - tokens) / seconds if seconds else 0.0,
        tokens=loop.tokens - tokens,
        seconds=seconds,
        running_mean=(loop.running_seconds - running) / seconds if seconds else 0.0,
        preemptions=loop.preemptions - preemptions,
        requests=len(counted),
        ttft_ms=distribution_ms([ttft_seconds(sequence) for sequence in counted]),
        tpot_ms=distribution_ms([tpot_seconds(sequence) for sequence in several]),
        e2e_ms=distribution_ms([e2e_seconds(sequence) for sequence in counted]),
        work=loop.work.since(work),
    )


def _go_on(loop: ClosedLoop, completions: int) -> None:
    while loop.completed < completions and loop.advance():
        pass
