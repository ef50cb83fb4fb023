"""Kills: a campaign is killed at a random instant, recovered where that is needed, and resumed."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from enum import Enum

from tests.torture.world import ENDED, World, require

INTERRUPTED = 130


class Kill(Enum):
    """How it is killed."""

    KILL = "-9"
    TERM = "-15"
    INTERRUPT = "Ctrl-C"
    TWICE = "Ctrl-C twice"
    HANG_UP = "terminal lost"


def deliver(how: Kill, process: "subprocess.Popen[bytes]", rng: random.Random) -> None:
    """Kill it; Ctrl-C and a lost terminal reach the whole process group."""
    match how:
        case Kill.KILL:
            process.kill()
        case Kill.TERM:
            process.terminate()
        case Kill.INTERRUPT:
            _group(process, signal.SIGINT)
        case Kill.TWICE:
            _group(process, signal.SIGINT)
            time.sleep(rng.random())
            _group(process, signal.SIGINT)
        case Kill.HANG_UP:
            _group(process, signal.SIGHUP)


def _group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    if process.poll() is None:
        os.killpg(process.pid, number)


def kill_and_resume(
    world: World, how: Kill, rng: random.Random, seconds: Callable[[], float], *, twice: bool
) -> None:
    """One attempt; `seconds` is how long a whole campaign takes at present. Raises Failed."""
    before = world.facts()
    process = world.begin()
    _wait(process, rng.random() * seconds())
    deliver(how, process, rng)
    code = process.wait(timeout=150)
    _after(world, how, code)
    world.restored(before)
    launches = world.finished()
    require(world.printed() <= len(launches), f"{world.printed()} rows printed, {len(launches)} stored")
    if world.unfinished_runs():
        if twice:
            again = world.begin("--resume")
            _wait(again, rng.random() * seconds() / 2)
            again.kill()
            again.wait()
            _recovered(world)
            world.restored(before)
            world.nothing_lost(launches)
            launches = world.finished()
        done = world.tune("--resume")
        require(done.returncode in ENDED, f"resume ended with {done.returncode}: {done.stderr[-600:]}")
        world.nothing_lost(launches)
        world.restored(before)
    require("Traceback" not in _said(world) or not _begun(world), f"a traceback: {_said(world)[-1500:]}")


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return


def _after(world: World, how: Kill, code: int) -> None:
    begun = _begun(world)
    if code in ENDED:
        return  # it was faster
    if how is Kill.KILL:
        require(code == -signal.SIGKILL, f"it ended with {code}")
        _recovered(world)
        return
    allowed = {INTERRUPTED} if begun else {INTERRUPTED, 1, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP}
    early = not world.state.exists() or not world.unfinished_runs()
    if early:  # its handlers were not in place yet; nothing was touched either
        allowed |= {1, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP}
    require(code in allowed or _over(world), f"it ended with {code}: {_said(world)[-600:]}")


def _begun(world: World) -> bool:
    """Whether the plan was shown; before that an interrupt meets a starting interpreter."""
    return "  about  " in _said(world)


def _over(world: World) -> bool:
    """The campaign was over, and the kill hit the writing of its report."""
    return world.unfinished_runs() == 0 and bool(world.finished())


def _recovered(world: World) -> None:
    done = world.recover()
    require(done.returncode == 0, f"recover ended with {done.returncode}: {done.stderr[-600:]}")


def _said(world: World) -> str:
    return world.log.read_text(errors="replace") if world.log.exists() else ""
