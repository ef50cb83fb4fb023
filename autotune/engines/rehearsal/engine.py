"""RehearsalEngine: the simulator as a serving engine, for a whole campaign in virtual time."""

import math
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from autotune.engines.rehearsal.options import RehearsalOptions
from autotune.errors import LaunchCause, LaunchFailed
from autotune.model.protocols import Clock, Service
from autotune.model.service import Blocks, BlockSource, Counters, Description, Endpoint, Fact
from autotune.model.settings import Settings
from autotune.simulator.closed_loop import ClosedLoop, Load
from autotune.simulator.noise import StepNoise
from autotune.simulator.policies import Rules, make_scheduler
from autotune.simulator.scheduler import Scheduler

MOST_BATCH = 5000
"""Largest maxBatchSize that MindIE took before 3.x."""


class RehearsalService:
    """A service that runs in virtual time; it makes the load tests that are run against it."""

    def __init__(self, options: RehearsalOptions, rules: Rules, *, launch: int) -> None:
        self.rules = rules
        self._options = options
        self._launch = launch
        self._levels = 0
        self._alive = True
        self._counted = 0
        self._scheduler: Scheduler | None = None
        generator = random.Random(f"{options.seed}/{launch}")  # noqa: S311 - repeatable noise, no secret
        self._factor = math.exp(generator.gauss(0.0, options.launch_noise)) if options.launch_noise else 1.0

    @property
    def endpoint(self) -> Endpoint:
        """A name that nothing can connect to."""
        return Endpoint(url="rehearsal://", model_name=self._options.preset.model_name)

    @property
    def blocks(self) -> Blocks | None:
        """The preset's or the profile's blocks."""
        return Blocks(count=self.rules.blocks, source=BlockSource.STATUS)

    def counters(self) -> Counters | None:
        """The counters at the end of the last level."""
        scheduler = self._scheduler
        if scheduler is None:
            blocks = self.rules.blocks
            return Counters(running=0, waiting=0, preemptions=0, free_blocks=blocks, total_blocks=blocks)
        return Counters(
            running=scheduler.running,
            waiting=scheduler.waiting,
            preemptions=self._counted + scheduler.preemptions,
            free_blocks=scheduler.free_blocks,
            total_blocks=self.rules.blocks,
        )

    def check(self) -> None:
        """Raise LaunchFailed when the launch is over."""
        if not self._alive:
            raise LaunchFailed(LaunchCause.CRASHED, "the rehearsed service is stopped")

    def end(self) -> None:
        """The launch is over."""
        self._alive = False

    def load(self, concurrency: int) -> ClosedLoop:
        """A fresh closed loop against the empty service; its noise depends on launch and level only."""
        if self._scheduler is not None:
            self._counted += self._scheduler.preemptions
        self._levels += 1
        self._scheduler = make_scheduler(self.rules)
        options = self._options
        noise = StepNoise(
            options.noise,
            seed=f"{options.seed}/{self._launch}/{self._levels}",
            launch_factor=self._factor,
        )
        load = Load(lengths=options.lengths, concurrency=concurrency)
        return ClosedLoop(self._scheduler, options.preset.cost, load, noise=noise)


class RehearsalEngine:
    """Settings -> RehearsalService. Starts and stops take virtual time only."""

    def __init__(self, options: RehearsalOptions, clock: Clock) -> None:
        self._options = options
        self._clock = clock
        self._configured = options.preset.rules.with_batch(options.max_batch_size)
        self._launches = options.first_launch
        self._running = False

    def describe(self) -> Description:
        """The incumbent is the preset's configuration with the options' max_batch_size."""
        options = self._options
        rules = self._configured
        return Description(
            kind="rehearsal",
            version="rehearsal",
            place=f"preset {options.preset.name}",
            model_name=options.preset.model_name,
            incumbent=rules.settings(),
            block_size=rules.cache_block_size,
            max_link_num=options.max_link_num,
            bounds_high=MOST_BATCH,
            max_iter_times=options.preset.shape.max_output_tokens,
            emulated=True,
            facts=(
                Fact(name="preset", value=options.preset.summary),
                Fact(name="blocks", value=str(rules.blocks)),
                Fact(name="launch noise", value=f"{options.launch_noise:.1%}"),
                Fact(name="seed", value=str(options.seed)),
            ),
        )

    def preview(self, settings: Settings) -> str:
        """No configuration file, no difference."""
        del settings
        return ""

    def launch(self, settings: Settings) -> AbstractContextManager[Service]:
        """Start a service. Raises LaunchFailed where the options say that memory runs out."""
        return self._launch(settings)

    @contextmanager
    def _launch(self, settings: Settings) -> Iterator[Service]:
        if self._running:
            raise LaunchFailed(LaunchCause.PORT, "the rehearsed service is already running")
        number = self._launches
        self._launches += 1
        self._clock.sleep(self._options.start_seconds)
        limit = self._options.out_of_memory_from
        if limit is not None and settings.max_batch_size >= limit:
            message = f"NPU out of memory at max_batch_size {settings.max_batch_size}"
            raise LaunchFailed(LaunchCause.MEMORY, message, lines=(message,))
        service = RehearsalService(self._options, self._configured.with_settings(settings), launch=number)
        self._running = True
        try:
            yield service
        finally:
            service.end()
            self._running = False
            self._clock.sleep(self._options.stop_seconds)
