"""Service disasters: daemons that do not listen or die, live traffic, requests of somebody else."""

import json
import os
import random
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autotune.emulator.faults import Faults
from tests.torture.attempt import (
    INTERRUPTED,
    NOT_MEASURABLE,
    REFUSED,
    Make,
    recovered,
    resumed,
    skip_when_starved,
)
from tests.torture.kills import Kill, deliver
from tests.torture.world import ENDED, World, require


def deaf_daemon(make: Make, rng: random.Random) -> None:
    """A daemon that ignores SIGTERM is killed after its grace, and everything is put back."""
    world = make(faults=Faults(deaf=True), with_production=False, launches=1)
    before = world.facts()
    process = world.begin()
    world.wait_for(world.serves, "no launch came up")
    time.sleep(2 * rng.random())
    deliver(Kill.INTERRUPT, process, rng)
    require(process.wait(timeout=150) in {*ENDED, INTERRUPTED}, "it did not end well")
    world.restored(before)


def deaf_daemon_recovered(make: Make, rng: random.Random) -> None:
    """The same after kill -9, by `recover`."""
    world = make(faults=Faults(deaf=True, orphans=True), with_production=False, launches=1)
    before = world.facts()
    process = world.begin()
    world.wait_for(world.serves, "no launch came up")
    process.kill()
    process.wait()
    recovered(world)
    world.restored(before)


def killed_daemon(make: Make, rng: random.Random) -> None:
    """A daemon that somebody kills is a failed launch; the campaign goes on and ends."""
    world = make(faults=Faults(orphans=True))
    before = world.facts()
    process = world.begin()
    world.wait_for(world.serves, "no launch came up")
    time.sleep(rng.random())
    for daemon in world.trial_daemons()[:1]:
        os.kill(daemon.pid, signal.SIGKILL)
    require(process.wait(timeout=150) in ENDED, f"it ended with {process.returncode}")
    world.restored(before)


def live_traffic(make: Make, rng: random.Random) -> None:
    """Live traffic is refused without commands; with hooks it is moved away, and comes back at the end."""
    world = make(mode=rng.choice(["in-place", "private"]), with_production=True)
    before, text = world.facts(), world.profile.read_text()
    with _traffic(world) as answered:
        world.profile.write_text(re.sub(r", service: \{.*\}\}", "}", text))
        done = world.tune()
        require(done.returncode == REFUSED and "service:" in done.stderr, f"{done.returncode}: {done.stderr}")
        require(answered(), "traffic was disturbed by a refused campaign")
        world.profile.write_text(_with_hooks(world, text))
        done = world.tune()
        require(done.returncode in ENDED, f"it ended with {done.returncode}: {done.stderr[-500:]}")
        require(
            (world.root / "hooks").read_text().split() == ["before", "after"], "hooks were not run once each"
        )
        world.restored(before)
        require(answered(), "traffic did not come back")


def requests_of_somebody_else(make: Make, rng: random.Random) -> None:
    """Requests beyond ours make every reading invalid: nothing is recommended (5)."""
    faults = Faults(foreign_requests_per_second=0.3)
    world = make(faults=faults, with_production=False, time_scale=60.0)
    before = world.facts()
    done = world.tune()
    skip_when_starved(done.returncode == 0 and "not ours" in done.stderr)
    require(done.returncode == NOT_MEASURABLE, f"it ended with {done.returncode}: {done.stderr[-500:]}")
    require("not ours" in done.stderr, f"it did not say why: {done.stderr[-500:]}")
    world.restored(before)


def deadline(make: Make, rng: random.Random) -> None:
    """The deadline comes: 124 with the best so far, production answers."""
    world = make(with_production=True, launches=3)
    before = world.facts()
    done = world.tune("--deadline", "62s")
    require(done.returncode in {*ENDED, 124}, f"it ended with {done.returncode}: {done.stderr[-400:]}")
    world.restored(before)


def killed_while_stopping(make: Make, rng: random.Random) -> None:
    """The tuner is killed while the stop command works: what that does later is outlasted and undone."""
    world = make(with_production=True)
    before, stop = world.facts(), world.root / "stop.py"
    stop.write_text(f"import time\ntime.sleep({1 + 2 * rng.random()})\n{stop.read_text()}")
    process = world.begin()
    world.wait_for(world.journal.exists, "nothing was journalled")
    time.sleep(0.5 * rng.random())
    process.kill()
    process.wait()
    recovered(world)
    time.sleep(4.0)
    world.restored(before)
    resumed(world, before)


HOOK = """\
import sys
flag, log, word = sys.argv[1:]
with open(flag, "w") as file:
    file.write("on" if word == "after" else "off")
with open(log, "a") as file:
    file.write(word + "\\n")
"""


def _with_hooks(world: World, text: str) -> str:
    script = world.root / "hook.py"
    script.write_text(HOOK)
    words = [sys.executable, str(script), str(world.root / "traffic"), str(world.root / "hooks")]
    hooks = f'"before": {json.dumps([*words, "before"])}, "after": {json.dumps([*words, "after"])}, '
    return text.replace('service: {"stop"', f'service: {{{hooks}"stop"')


@contextmanager
def _traffic(world: World) -> Iterator[Callable[[], bool]]:
    """A client that asks production all the time, while the flag of the load balancer is on."""
    flag, over, seen = world.root / "traffic", threading.Event(), []
    flag.write_text("on")

    def ask() -> None:
        while not over.wait(0.1):
            if flag.read_text() != "off":
                seen.append(world.answers())

    def answered() -> bool:
        """Whether the next requests are answered."""
        count = len(seen)
        world.wait_for(lambda: len(seen) > count + 2, "no traffic", 20.0)
        return all(seen[count + 1 :])

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield answered
    finally:
        over.set()
        thread.join(timeout=15)
