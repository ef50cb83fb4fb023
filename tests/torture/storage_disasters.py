"""Storage disasters: full disks, read-only files, a database that locks or is cut."""

import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tests.torture.attempt import (
    NOT_RESTORED,
    REFUSED,
    Make,
    Skipped,
    recovered,
    resumed,
    tail,
    trial_written,
)
from tests.torture.world import ENDED, World, require


def state_deleted(make: Make, rng: random.Random) -> None:
    """The state directory is deleted under a campaign: it ends, and everything is put back."""
    world = make(mode="in-place", time_scale=100.0)
    before = world.facts()
    process = world.begin()
    trial_written(world, process, before)
    while world.state.exists():  # the daemon writes its logs meanwhile
        shutil.rmtree(world.state, ignore_errors=True)
    code = process.wait(timeout=200)
    require(code in {REFUSED, *ENDED}, f"it ended with {code}: {tail(world)}")
    world.restored(before)


def database_locked(make: Make, rng: random.Random) -> None:
    """Somebody locks the database for longer than one waits: the campaign ends, and goes on later."""
    world = make()
    before = world.facts()
    process = world.begin()
    world.wait_for(lambda: world.printed() >= 1 or process.poll() is not None, "no launch ended")
    launches = world.finished()
    with _locked(world.state / "campaigns.db"):
        code = process.wait(timeout=200)
    require(code in {REFUSED, *ENDED}, f"it ended with {code}: {tail(world)}")
    world.restored(before)
    world.nothing_lost(launches)
    if code not in ENDED:
        resumed(world, before)


def database_locked_for_a_while(make: Make, rng: random.Random) -> None:
    """Somebody locks the database for some seconds: the campaign waits."""
    world = make()
    before = world.facts()
    process = world.begin()
    world.wait_for(lambda: world.printed() >= 1 or process.poll() is not None, "no launch ended")
    with _locked(world.state / "campaigns.db"):
        time.sleep(4.0)
    require(process.wait(timeout=200) in ENDED, f"it ended with {process.returncode}: {tail(world)}")
    world.restored(before)


def database_cut(make: Make, rng: random.Random) -> None:
    """The database is cut: the campaign ends, the launches are still beside it, and it goes on from them."""
    world = make()
    before = world.facts()
    process = world.begin()
    world.wait_for(lambda: world.printed() >= 1 or process.poll() is not None, "no launch ended")
    launches = world.finished()
    database = world.state / "campaigns.db"
    os.truncate(database, int(database.stat().st_size * rng.random()))
    code = process.wait(timeout=200)
    world.restored(before)
    require("Traceback" not in world.log.read_text(), tail(world))
    if code in ENDED:
        return
    require(code == REFUSED, f"it ended with {code}: {tail(world)}")
    run = next((world.state / "runs").iterdir()).name
    done = world.tune("--resume", run)
    if done.returncode == REFUSED:
        database.rename(world.state / "campaigns.db.damaged")
        done = world.tune("--resume", run)
    require(done.returncode in ENDED, f"resume ended with {done.returncode}: {done.stderr[-800:]}")
    world.nothing_lost(launches)
    world.restored(before)


def full_disk(make: Make, rng: random.Random) -> None:
    """The disk of configuration and state fills up: everything is put back without a free byte."""
    with _small_disk(make, "in-place") as (world, filled):
        before = world.facts()
        process = world.begin()
        world.wait_for(lambda: bool(world.trial_daemons()), "no launch began")
        time.sleep(1.5 * rng.random())
        with filled():
            code = process.wait(timeout=200)
            require(code in {REFUSED, *ENDED}, f"it ended with {code}: {tail(world)}")
            require(world.facts() == before, "not everything was put back on the full disk")
            require(not world.journal.exists(), "the crash journal is still there")
        world.restored(before)
        require("Traceback" not in world.log.read_text(), tail(world))
        if world.unfinished_runs():
            resumed(world, before)


def full_disk_recovered(make: Make, rng: random.Random) -> None:
    """The same after kill -9: `recover` works on the full disk."""
    with _small_disk(make, "in-place") as (world, filled):
        before = world.facts()
        process = world.begin()
        trial_written(world, process, before)
        process.kill()
        process.wait()
        with filled():
            recovered(world)
            require(world.facts() == before, "not everything was put back on the full disk")
        world.restored(before)
        resumed(world, before)


def read_only_config(make: Make, rng: random.Random) -> None:
    """A file system that is read-only from the start refuses the campaign, and nothing is changed."""
    world = make(mode="in-place", time_scale=100.0)
    before = world.facts()
    with _read_only(world.config.parent):
        done = world.tune()
        require(done.returncode in {REFUSED, 5}, f"it ended with {done.returncode}: {done.stderr[-500:]}")
    world.restored(before)


def read_only_meanwhile(make: Make, rng: random.Random) -> None:
    """One that becomes read-only during a trial is told (4), and `recover` mends it afterwards."""
    world = make(mode="in-place", time_scale=100.0)
    before = world.facts()
    process = world.begin()
    trial_written(world, process, before)
    with _read_only(world.config.parent):
        code = process.wait(timeout=200)
        require(code == NOT_RESTORED, f"it ended with {code}: {tail(world)}")
        require(world.recover().returncode == NOT_RESTORED, "recover did not tell")
    recovered(world)
    world.restored(before)


@contextmanager
def _locked(database: Path) -> Iterator[None]:
    connection = sqlite3.connect(database, timeout=30, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")
    finally:
        connection.close()


@contextmanager
def _small_disk(make: Make, mode: str) -> Iterator[tuple[World, Callable]]:
    """A world on a file system of its own, and what fills it to the last byte."""
    place = make.place()
    place.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place))
    world = None
    try:
        world = make(root=place / "w", mode=mode)
        yield world, lambda: _filled(place)
    finally:
        if world is not None:
            world.close()
        subprocess.run(["umount", "-l", str(place)], check=False)


@contextmanager
def _filled(place: Path) -> Iterator[None]:
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        size = 1 << 20
        while size:
            size = size if _takes(file, size) else size // 2
        try:
            yield
        finally:
            os.ftruncate(file.fileno(), 0)
    filler.unlink()


def _takes(file: BinaryIO, size: int) -> bool:
    try:
        file.write(b"\0" * size)
    except OSError:
        return False
    return True


@contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    _mount("--bind", str(folder), str(folder))
    try:
        _mount("-o", "remount,bind,ro", str(folder))
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"mount: {done.stderr.strip()}")
