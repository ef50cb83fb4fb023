"""Attempt: what every disaster needs: how it may end, and what a person would do afterwards."""

import os
import subprocess
from collections.abc import Callable

from tests.torture.world import ENDED, HostFacts, World, require

BUSY, REFUSED, NOT_RESTORED, NOT_MEASURABLE, INTERRUPTED = 75, 1, 4, 5, 130
Make = Callable[..., World]
_MOST_LOAD = 2.0
"""Processes a CPU that want to run."""


class Skipped(Exception):
    """The host does not allow it."""


def recovered(world: World) -> None:
    done = world.recover()
    require(done.returncode == 0, f"recover ended with {done.returncode}: {done.stderr[-600:]}")


def resumed(world: World, before: HostFacts) -> None:
    if not world.unfinished_runs():
        return
    launches = world.finished()
    done = world.tune("--resume")
    require(done.returncode in ENDED, f"resume ended with {done.returncode}: {done.stderr[-600:]}")
    world.nothing_lost(launches)
    world.restored(before)


def tail(world: World) -> str:
    return world.log.read_text(errors="replace")[-800:]


def skip_when_starved(unclear: bool) -> None:
    """Raise Skipped where an outcome hangs on readings that an overloaded host cannot take in time."""
    if unclear and os.getloadavg()[0] > _MOST_LOAD * (os.cpu_count() or 1):
        raise Skipped("the machine is too busy for a reading")


def trial_written(world: World, process: "subprocess.Popen[bytes]", before: HostFacts) -> None:
    """Wait until a trial is in config.json. Raises Skipped when the campaign ends before it comes so far."""
    world.wait_for(
        lambda: world.facts().config != before.config or process.poll() is not None, "no trial was written"
    )
    if process.poll() is not None:
        raise Skipped("the machine is too busy for a reading")
