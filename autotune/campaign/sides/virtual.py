"""The side of a rehearsal: the simulator as engine, load and clock."""

import time
from dataclasses import replace

from autotune.campaign.forecast import Residence, Timing
from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.sides.side import HostSide
from autotune.engines.rehearsal.clock import VirtualClock
from autotune.engines.rehearsal.engine import RehearsalEngine
from autotune.engines.rehearsal.options import RehearsalOptions, options_from_profile
from autotune.engines.rehearsal.source import RehearsalSource
from autotune.profile.schema import Profile
from autotune.search.space import Space
from autotune.simulator.closed_loop import ClosedLoop, Load
from autotune.simulator.policies import make_scheduler


def virtual_side(profile: Profile, *, first_launch: int) -> HostSide:
    """Engine, source and clock in virtual time, after `first_launch` launches of a run that goes on.

    Raises UsageError for an unknown preset.
    """
    options = replace(options_from_profile(profile), first_launch=first_launch)
    clock = VirtualClock(wall=time.time())
    return HostSide(
        engine=RehearsalEngine(options, clock),
        source=RehearsalSource(
            clock, warm_up_seconds=options.warm_up_seconds, limits=profile.objective.limits
        ),
        clock=InterruptibleClock(clock),
        timing=Timing(
            start_seconds=options.start_seconds,
            stop_seconds=options.stop_seconds,
            warm_up_seconds=options.warm_up_seconds,
        ),
        residence=lambda space: _residence(options, space),
        blocks=options.preset.rules.blocks,
    )


def _residence(options: RehearsalOptions, space: Space) -> Residence:
    """One generation of requests as found and one in the middle of a sweep, without noise.

    Little's law: running requests over finished requests a second.
    """
    bracket = space.bracket()
    return Residence(
        restart=_one_generation(options, options.max_batch_size, space.concurrency),
        sweep=_one_generation(options, bracket.high, bracket.start),
        restless=options.noise.drift > 0.0,
    )


def _one_generation(options: RehearsalOptions, limit: int, concurrency: int) -> float:
    rules = options.preset.rules.with_batch(limit)
    load = Load(lengths=options.lengths, concurrency=concurrency)
    loop = ClosedLoop(make_scheduler(rules), options.preset.cost, load)
    wanted = min(limit, concurrency)
    while loop.completed < wanted and loop.advance():
        pass
    begin, running = loop.now, loop.running_seconds
    while loop.completed < 2 * wanted and loop.advance():
        pass
    return (loop.running_seconds - running) / wanted if loop.now > begin else 0.0
