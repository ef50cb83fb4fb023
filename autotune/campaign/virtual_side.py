"""The side of a rehearsal: the simulator as engine, load and clock."""

import time
from dataclasses import replace

from autotune.campaign.host_side import HostSide
from autotune.campaign.interruption import InterruptibleClock
from autotune.engines.rehearsal.clock import VirtualClock
from autotune.engines.rehearsal.engine import RehearsalEngine
from autotune.engines.rehearsal.options import options_from_profile
from autotune.engines.rehearsal.source import RehearsalSource
from autotune.profile.schema import Profile


def virtual_side(profile: Profile, *, first_launch: int) -> HostSide:
    """Engine, source and clock in virtual time, after `first_launch` launches of a run that goes on.

    Raises UsageError for an unknown preset.
    """
    options = replace(options_from_profile(profile), first_launch=first_launch)
    clock = VirtualClock(wall=time.time())
    return HostSide(
        engine=RehearsalEngine(options, clock),
        source=RehearsalSource(clock, warm_up_seconds=options.warm_up_seconds),
        clock=InterruptibleClock(clock),
        blocks=options.preset.rules.blocks,
    )
