"""Plays nights in a world: the real strategy and memory, an oracle for the launches."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from autotune.errors import LaunchCause
from autotune.model.campaign import Campaign
from autotune.model.launch import BudgetLeft, History, LaunchRecord, Outcome, Purpose
from autotune.model.measurement import Measurement
from autotune.model.move import Finish, Launch, Measure, VerdictCode
from autotune.model.service import Description
from autotune.model.settings import Settings
from autotune.search.night import NightStrategy
from autotune.search.night_memory import MOST_NIGHTS, remember
from autotune.search.options import Options
from tests.bench.nights.world import LAUNCH_NOISE, MOST, WITHIN, World, space_of

MOST_LAUNCHES = 40


@dataclass(frozen=True, kw_only=True)
class Played:
    """One night: its launches, whether it saw a drift, and the size that is served afterwards."""

    launches: int
    drifted: bool
    slower: bool
    changed: bool
    served: int

    @property
    def alarm(self) -> bool:
        """It told of something or changed something."""
        return self.drifted or self.changed


@dataclass
class Host:
    """One host over many nights: it remembers, and it serves what the last night decided."""

    served: int
    seed: int
    noise: float = LAUNCH_NOISE
    past: list[Campaign] = field(default_factory=list)
    night: int = 0

    def play(self, world: World, *, opening_only: bool = False) -> Played:
        """One night with nightly.apply; a confirmed winner is served from then on.

        With `opening_only` it ends where a wider search would begin: a drift is known by then.
        """
        self.night += 1
        space, options = space_of(world, self.served), Options(seed=self.seed)
        memory = remember(self.past[-MOST_NIGHTS:], concurrency=space.concurrency)
        strategy = NightStrategy(space, options, memory)
        rng = np.random.default_rng([self.seed, self.night])
        history = History(budget=BudgetLeft(launches=MOST_LAUNCHES))
        factor = 1.0
        while not isinstance(move := strategy.next_move(history), Finish):
            if isinstance(move, Launch):
                if opening_only and move.purpose is Purpose.SCOUT:
                    move = Finish(settings=Settings(max_batch_size=self.served), code=VerdictCode.INTERRUPTED)
                    break
                factor = math.exp(rng.normal(0.0, self.noise))
                history = _launch(history, move, world)
            else:
                assert isinstance(move, Measure)
                history = _measure(history, move, world, factor, rng)
        return self._after(strategy, _ended(history), move)

    def _after(self, strategy: NightStrategy, history: History, finish: Finish) -> Played:
        departure = strategy.findings(history).departure
        self.past.append(_campaign(history, self.served))
        changed = finish.settings is not None and finish.settings.max_batch_size != self.served
        if changed and finish.settings is not None:
            self.served = finish.settings.max_batch_size
        return Played(
            launches=len(history.launches),
            drifted=departure is not None and departure.outside,
            slower=departure is not None and departure.slower,
            changed=changed,
            served=self.served,
        )


def _launch(history: History, move: Launch, world: World) -> History:
    record = LaunchRecord(
        number=len(history.launches) + 1, purpose=move.purpose, settings=move.settings, blocks=world.blocks
    )
    if world.fails_from is not None and move.settings.max_batch_size >= world.fails_from:
        record = replace(record, outcome=Outcome.FAILED, cause=LaunchCause.MEMORY, blocks=None)
    left = history.budget.launches - 1
    return History(launches=(*_ended(history).launches, record), budget=BudgetLeft(launches=left))


def _ended(history: History) -> History:
    done = tuple(
        replace(each, outcome=Outcome.ENDED) if each.outcome is Outcome.PENDING else each
        for each in history.launches
    )
    return replace(history, launches=done)


def _measure(
    history: History, move: Measure, world: World, factor: float, rng: np.random.Generator
) -> History:
    running = history.launches[-1]
    size = min(running.settings.max_batch_size, move.concurrency, MOST)
    speed = world.speed(size) * factor * math.exp(rng.normal(0.0, WITHIN))
    if running.purpose is Purpose.SCOUT:
        speed *= 1.0 + 0.02 * math.sin(3.0 * math.log(size))
    level = Measurement(
        concurrency=move.concurrency,
        tokens_per_second=speed,
        half_width=1.96 * WITHIN,
        whole_run_tokens_per_second=speed,
        seconds=150.0,
        requests=1000,
        completed=1000,
    )
    record = replace(running, levels=(*running.levels, level))
    return replace(history, launches=(*history.launches[:-1], record))


def _campaign(history: History, incumbent: int) -> Campaign:
    return Campaign(
        run="night",
        profile_name="nights",
        profile_text="",
        description=Description(
            kind="rehearsal",
            version="rehearsal",
            place="",
            model_name="",
            incumbent=Settings(max_batch_size=incumbent),
            block_size=128,
        ),
        bracket=None,
        strategy="night",
        started_wall=0.0,
        launches=history.launches,
    )
