"""Disasters: everything else that happens to a campaign on a host, each with its right ending."""

import random
import signal
import subprocess
import time
from collections.abc import Callable

from tests.torture import service_disasters as service
from tests.torture import storage_disasters as storage
from tests.torture.attempt import BUSY, NOT_RESTORED, Make, recovered, resumed, tail, trial_written
from tests.torture.world import ENDED, require


def second_tuner(make: Make, rng: random.Random) -> None:
    """A second campaign on the same install exits 75 and changes nothing; the first one goes on."""
    world = make()
    before = world.facts()
    process = world.begin()
    world.wait_for(world.serves, "no launch came up")
    process.send_signal(signal.SIGSTOP)  # it holds what it holds
    trial = world.facts()
    for other in ((), ("--set", f"store.state={world.root / 'other'}")):
        done = world.tune(*other)
        require(done.returncode == BUSY, f"the second ended with {done.returncode}: {done.stderr[-400:]}")
    require(world.facts() == trial, "it changed something")
    process.send_signal(signal.SIGCONT)
    require(process.wait(timeout=150) in ENDED, f"the first ended with {process.returncode}: {tail(world)}")
    world.restored(before)


def recover_beside(make: Make, rng: random.Random) -> None:
    """`recover` beside a campaign that goes on exits 75 and changes nothing, wherever the clock stands."""
    world = make()
    before = world.facts()
    process = world.begin()
    world.wait_for(world.journal.exists, "nothing was journalled")
    for wrong in (0.0, 86400.0, -86400.0):
        world.clock.write_text(str(wrong))
        done = world.recover()
        idle = done.stdout == "nothing to recover\n"  # it was over before recover looked
        require(done.returncode == BUSY or idle, f"recover ended with {done.returncode}: {done.stdout}")
    world.clock.write_text("0")
    require(process.wait(timeout=150) in ENDED, "the campaign did not end well")
    world.restored(before)


def suspended(make: Make, rng: random.Random) -> None:
    """A tuner that is suspended for a while goes on."""
    world = make()
    before = world.facts()
    process = world.begin()
    world.wait_for(lambda: bool(world.trial_daemons()), "no launch began")
    time.sleep(rng.random())
    process.send_signal(signal.SIGSTOP)
    done = world.recover()
    require(done.returncode == BUSY or not world.journal.exists(), f"recover: {done.returncode}")
    time.sleep(1.0)
    process.send_signal(signal.SIGCONT)
    require(process.wait(timeout=150) in ENDED, f"it ended with {process.returncode}")
    world.restored(before)


def clock_jumps(make: Make, rng: random.Random) -> None:
    """The clock jumps by hours and years, then the tuner is killed; `recover` and resume still work."""
    world = make()
    before = world.facts()
    process = world.begin()
    for _ in range(6):
        world.clock.write_text(str(rng.choice([-1, 1]) * rng.choice([3600.0, 86400.0, 3.2e8])))
        time.sleep(0.4 + 0.5 * rng.random())
    process.kill()
    process.wait()
    world.clock.write_text("-7200")
    recovered(world)
    world.restored(before)
    resumed(world, before)


def clock_jumps_to_the_end(make: Make, rng: random.Random) -> None:
    """A campaign during which the clock jumps ends as without."""
    world = make()
    before = world.facts()
    process = world.begin()
    while process.poll() is None:
        world.clock.write_text(str(rng.choice([-1, 1]) * rng.choice([3600.0, 86400.0, 3.2e8])))
        time.sleep(0.5)
    require(process.returncode in ENDED, f"it ended with {process.returncode}: {tail(world)}")
    world.restored(before)


def killed_recover(make: Make, rng: random.Random) -> None:
    """`recover` itself is killed again and again; the last one mends everything, and one service runs."""
    world = make(with_production=True)
    before = world.facts()
    process = world.begin()
    world.wait_for(lambda: bool(world.trial_daemons()), "no launch began")
    time.sleep(rng.random())
    process.kill()
    process.wait()
    for _ in range(3):
        again = world.begin_recover()
        try:
            again.wait(timeout=0.3 + 1.5 * rng.random())
        except subprocess.TimeoutExpired:
            again.kill()
            again.wait()
    recovered(world)
    world.wait_for(lambda: not world.trial_daemons(), f"a second service runs: {world.trial_daemons()}", 20.0)
    world.restored(before)
    resumed(world, before)


def edited_by_somebody(make: Make, rng: random.Random) -> None:
    """An edit by somebody else stays (4), production answers, and `recover --accept-edits` ends it."""
    world = make(mode="in-place", with_production=True, time_scale=100.0)
    before = world.facts()
    process = world.begin()
    trial_written(world, process, before)
    text = world.config.read_text()
    edited = text.replace('"maxIterTimes" : 512', '"maxIterTimes" : 500')
    require(edited != text, "there is nothing to edit")
    world.config.write_text(edited)
    code = process.wait(timeout=150)
    require(code == NOT_RESTORED, f"it ended with {code}: {tail(world)}")
    require(world.config.read_text() == edited, "the edit was overwritten")
    require(world.answers(), "production does not answer")
    require(world.recover().returncode == NOT_RESTORED, "recover took it away")
    done = world.recover("--accept-edits")
    require(done.returncode == 0, f"accept ended with {done.returncode}: {done.stderr}")
    require(world.config.read_text() == edited, "the edit was overwritten")
    require(world.facts().settings == before.settings, "host settings differ")


def apply_killed(make: Make, rng: random.Random) -> None:
    """A winner that is applied at the end of a campaign, which is killed about then: all or nothing."""
    world = make(mode="in-place")
    before = world.facts()
    process = world.begin("--apply")
    world.wait_for(lambda: world.printed() >= world.launches or process.poll() is not None, "it did not end")
    time.sleep(0.6 * rng.random())
    process.kill()
    process.wait()
    recovered(world)
    if world.facts().config != before.config:
        done = world.run("rollback", "--state", str(world.state))
        require(done.returncode == 0, f"rollback ended with {done.returncode}: {done.stderr}")
    world.restored(before)


DISASTERS: dict[str, Callable[[Make, random.Random], None]] = {
    "a second tuner": second_tuner,
    "recover beside a campaign": recover_beside,
    "recover killed three times": killed_recover,
    "clock jumps, then kill -9": clock_jumps,
    "clock jumps": clock_jumps_to_the_end,
    "full disk": storage.full_disk,
    "full disk, kill -9": storage.full_disk_recovered,
    "read-only config": storage.read_only_config,
    "config becomes read-only": storage.read_only_meanwhile,
    "config edited by somebody else": edited_by_somebody,
    "state directory deleted": storage.state_deleted,
    "daemon killed by somebody": service.killed_daemon,
    "tuner suspended": suspended,
    "database cut": storage.database_cut,
    "database locked for a while": storage.database_locked_for_a_while,
    "killed while the service stops": service.killed_while_stopping,
    "deadline": service.deadline,
    "live traffic": service.live_traffic,
    "requests of somebody else": service.requests_of_somebody_else,
    "killed while a winner is applied": apply_killed,
    "daemon ignores SIGTERM": service.deaf_daemon,
    "daemon ignores SIGTERM, kill -9": service.deaf_daemon_recovered,
    "database locked": storage.database_locked,
}
