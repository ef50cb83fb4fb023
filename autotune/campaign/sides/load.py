"""The load on a real host: the built-in client, or the tool that the profile names."""

import os
from pathlib import Path

from autotune.campaign.sides.ground import Ground
from autotune.events import Warned
from autotune.load.from_profile import own_source_of
from autotune.load.own_source import OwnSource
from autotune.load.tool_source import ToolSource
from autotune.model.service import Description
from autotune.process.environment import without_proxies
from autotune.profile.schema import Profile

_PROGRAMS = "bin"
_RUNS = "load"
_WEIGHTS = "model_weights"


def source_of(profile: Profile, description: Description, ground: Ground) -> OwnSource | ToolSource:
    """What produces the load, on the CPUs that the service does not have.

    Raises UsageError for a workload that the source can't send; touches nothing.
    """
    model_path = profile.model.path or _weights(description)
    own = own_source_of(
        profile.workload,
        environment=os.environ,
        time_scale=description.time_scale,
        seed=profile.search.seed,
        model=model_path,
        limits=profile.objective.limits,
        cpus=ground.host.placement.client,
        notice=lambda text: ground.listener(Warned(message=text)),
    )
    if profile.workload.source == "own":
        return own
    from autotune.load.tool_from_profile import Surroundings, tool_source_of
    from autotune.load.tool_run import ToolPlace

    place = ToolPlace(
        directory=ground.directory / _RUNS,
        cpus=ground.host.placement.client,
        journal=ground.journal,
        clock=ground.clock,
    )
    around = Surroundings(
        environment=without_proxies(ground.environment),
        programs=(profile.engine.home / _PROGRAMS,) if profile.engine.kind == "mindie" else (),
        model_path=model_path,
    )
    return tool_source_of(profile.workload, own, place, around, time_scale=description.time_scale)


def _weights(description: Description) -> Path | None:
    """The model's directory as the service's own configuration names it."""
    named = [fact.value for fact in description.facts if fact.name == _WEIGHTS]
    return Path(named[0]) if named else None
