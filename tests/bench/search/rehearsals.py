"""Whole campaigns in rehearsal: the recommended value against the simulator's own optimum.

python -m tests.bench.search.rehearsals [--seeds 20] [--strategy scout] [--limit "tpot:mean<=50ms"]...
                                        [--set KEY=VALUE]...
"""

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from autotune.campaign.choices import Choices
from autotune.campaign.planning import planned
from autotune.campaign.replay import replay
from autotune.campaign.space import options_of
from autotune.engines.rehearsal.latencies import latencies_of
from autotune.engines.rehearsal.options import options_from_profile
from autotune.model.campaign import Campaign
from autotune.model.limit import Limit
from autotune.model.measurement import Measurement
from autotune.model.settings import Settings
from autotune.profile.reading import LoadedProfile, parse_profile
from autotune.search.limits import value_of
from autotune.search.space import Space
from autotune.search.strategy import make_strategy
from autotune.simulator.closed_loop import ClosedLoop, Load
from autotune.simulator.policies import make_scheduler

PROFILE = """
name: rehearsed
engine: {kind: rehearsal, preset: llama3-8b, blocks: 2176, noise: 2%}
workload:
  dataset: {type: synthetic, input_tokens: 186, output_tokens: {mean: 346, max: 512}}
  max_output_tokens: 512
host: {governor: null, transparent_hugepages: null, cpus: null}
"""
_SETTLE, _READ = 2.5, 12.0
"""Generations of running requests that are left out and counted."""
_STEP = 1.04


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """One campaign and what the simulator says of its answer."""

    campaign: Campaign
    space: Space
    loaded: LoadedProfile
    differences: int
    """Decisions that a replay of the stored campaign makes otherwise."""

    @property
    def elapsed(self) -> float:
        """Seconds of virtual time."""
        return (self.campaign.ended_wall or 0.0) - self.campaign.started_wall

    @property
    def forecast_error(self) -> float:
        """Forecast over elapsed time, minus 1."""
        assert self.campaign.forecast is not None
        return self.campaign.forecast.seconds / self.elapsed - 1.0


def rehearse(seed: int, overrides: tuple[str, ...], directory: Path, text: str = PROFILE) -> Rehearsed:
    """One campaign through the same path as the command line's."""
    state = f"store.state={directory / f'state-{seed}'}"
    loaded = parse_profile(
        text, path=directory / "rehearsed.yaml", overrides=(*overrides, f"search.seed={seed}", state)
    )
    with planned(loaded, Choices(rehearse=True), lambda _: None) as session:
        ending = session.run(lambda _: None)
        stored = session.store.load(ending.campaign.run)
        profile = session.profile
        options = options_of(profile, max_launches=profile.search.max_launches)
        strategy = make_strategy(profile.search.strategy, session.space, options)
        found = replay(stored, strategy, max_launches=profile.search.max_launches)
        return Rehearsed(campaign=ending.campaign, space=session.space, loaded=loaded, differences=len(found))


@lru_cache(maxsize=4096)
def _true(text: str, overrides: tuple[str, ...], settings: Settings, concurrency: int) -> Measurement:
    """What a quiet service reads at these settings, over the second and later generations."""
    profile = parse_profile(text, path=Path("/truth/rehearsed.yaml"), overrides=overrides).profile
    options = options_from_profile(profile)
    rules = options.preset.rules.with_batch(options.max_batch_size).with_settings(settings)
    loop = ClosedLoop(
        make_scheduler(rules), options.preset.cost, Load(lengths=options.lengths, concurrency=concurrency)
    )
    served = min(settings.max_batch_size, concurrency)
    while loop.completed < _SETTLE * served and loop.advance():
        pass
    begin, tokens = loop.now, loop.tokens
    while loop.completed < (_SETTLE + _READ) * served + 600 and loop.advance():
        pass
    waits = latencies_of(loop, begin, profile.objective.limits)
    speed = (loop.tokens - tokens) / (loop.now - begin)
    return Measurement(
        concurrency=concurrency,
        tokens_per_second=speed,
        half_width=0.0,
        whole_run_tokens_per_second=speed,
        seconds=loop.now - begin,
        requests=loop.completed,
        completed=loop.completed,
        ttft_ms=waits.ttft_ms,
        tpot_ms=waits.tpot_ms,
        e2e_ms=waits.e2e_ms,
        goodput=waits.goodput,
        over_limits=waits.over_limits,
    )


def truth(rehearsed: Rehearsed, settings: Settings, overrides: tuple[str, ...]) -> Measurement:
    """The simulator's own answer for these settings; the data set is that of seed 1."""
    return _true(rehearsed.loaded.text, overrides, settings, rehearsed.space.concurrency)


def optimum(
    rehearsed: Rehearsed, overrides: tuple[str, ...], shared: Settings
) -> tuple[Settings, Measurement]:
    """The best value of a 4 % grid over the bracket and half an octave around it, limits kept.

    `shared` are settings of the campaign's candidates: all but the batch values are theirs.
    """
    limits = rehearsed.loaded.profile.objective.limits
    bracket = rehearsed.space.bracket()
    sizes, size = set(), bracket.low / 3.0
    while size <= bracket.high * 1.1:
        sizes.add(rehearsed.space.nearest(size))
        size *= _STEP
    space = replace(rehearsed.space, shared=shared)
    tried = [(space.settings_for(each), each) for each in sorted(sizes)]
    read = [(settings, truth(rehearsed, settings, overrides)) for settings, _ in tried]
    kept = [pair for pair in read if holds(limits, pair[1])]
    return max(kept, key=lambda pair: pair[1].tokens_per_second)


def holds(limits: tuple[Limit, ...], level: Measurement) -> bool:
    """By the plain figures: the simulator's own are exact."""
    values = [(limit, value_of(limit, level)) for limit in limits]
    return all(value is not None and limit.holds(value) for limit, value in values)


def main(arguments: list[str]) -> None:
    """Run the seeds and print a line each."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.search.rehearsals", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--strategy", default="scout")
    parser.add_argument("--limit", action="append", default=[])
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    asked = parser.parse_args(arguments)
    limits = f"objective.limits={asked.limit}" if asked.limit else None
    overrides = (*asked.overrides, f"search.strategy={asked.strategy}", *([limits] if limits else []))
    near = short = timely = 0
    kept: list[bool] = []
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(1, asked.seeds + 1):
            done = rehearse(seed, overrides, Path(directory))
            campaign, verdict = done.campaign, done.campaign.verdict
            assert verdict is not None
            if verdict.best is None:
                print(f"{seed:3} {verdict.code.value} {verdict.reason}")
                continue
            best, top = optimum(done, overrides, verdict.best.settings)
            mine = truth(done, verdict.best.settings, overrides)
            loss = 1.0 - mine.tokens_per_second / top.tokens_per_second
            near, short = near + (loss <= 0.02), short + (len(campaign.launches) <= 9)
            timely += abs(done.forecast_error) <= 0.3
            kept.append(holds(done.loaded.profile.objective.limits, mine))
            print(
                f"{seed:3} {verdict.code.value:14} {verdict.best.settings.max_batch_size:5} of "
                f"{best.max_batch_size:5}  loss {loss:6.2%}  {len(campaign.launches):2} launches  "
                f"{done.elapsed / 3600:4.2f} h, forecast {done.forecast_error:+.0%}  "
                f"replay differs {done.differences}{'' if kept[-1] else '  BREAKS A LIMIT'}",
                flush=True,
            )
    print(
        f"within 2 %: {near}, at most 9 launches: {short}, forecast within 30 %: {timely}, "
        f"limits kept: {sum(kept)} of {asked.seeds}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
