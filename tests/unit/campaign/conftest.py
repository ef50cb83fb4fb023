"""A scripted host: an engine and a source whose readings a test writes down, and a clock that jumps."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from autotune.errors import LaunchCause, LaunchFailed
from autotune.events import Event
from autotune.model.campaign import Campaign, Decision
from autotune.model.launch import LaunchRecord
from autotune.model.measurement import Level, Measurement
from autotune.model.protocols import LevelRequest, Listener
from autotune.model.service import Blocks, BlockSource, Counters, Description, Endpoint
from autotune.model.settings import Settings


def measurement(tokens_per_second: float, *, concurrency: int = 100, half_width: float = 0.01) -> Measurement:
    return Measurement(
        concurrency=concurrency,
        tokens_per_second=tokens_per_second,
        half_width=half_width,
        whole_run_tokens_per_second=0.8 * tokens_per_second,
        seconds=150.0,
        requests=500,
        completed=400,
    )


ENDPOINT = Endpoint(url="http://127.0.0.1:1", model_name="m")
BLOCKS = Blocks(count=2176, source=BlockSource.STATUS)


@dataclass
class JumpingClock:
    seconds: float = 0.0

    def now(self) -> float:
        return self.seconds

    def wall(self) -> float:
        return 1_700_000_000.0 + self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass
class ScriptedService:
    settings: Settings
    dead: bool = False
    endpoint: Endpoint = ENDPOINT
    blocks: Blocks = BLOCKS

    def counters(self) -> Counters | None:
        return None

    def check(self) -> None:
        if self.dead:
            raise LaunchFailed(LaunchCause.CRASHED, "gone")


@dataclass
class ScriptedHost:
    """Engine and source in one; `log` tells the order of what was done to it."""

    clock: JumpingClock
    speed: Callable[[Settings], float]
    failing: dict[int, LaunchCause] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    admitted: list[int | None] = field(default_factory=list)
    """How many requests at once each level was told that the service admits."""
    on_measure: Callable[[], None] = lambda: None
    up: ScriptedService | None = None

    def describe(self) -> Description:
        incumbent = Settings(max_batch_size=200, max_prefill_batch_size=50)
        return Description(
            kind="mindie",
            version="3.0",
            place=f"/install-of-{os.getpid()}",  # the lock of a service is by its place, and others test too
            model_name="m",
            incumbent=incumbent,
            block_size=128,
        )

    def preview(self, settings: Settings) -> str:
        return f"+maxBatchSize {settings.max_batch_size}\n"

    @contextmanager
    def launch(self, settings: Settings) -> Iterator[ScriptedService]:
        self.log.append(f"start {settings.max_batch_size}")
        self.clock.sleep(60)
        cause = self.failing.get(settings.max_batch_size)
        if cause is not None:
            raise LaunchFailed(cause, "did not start", lines=("line one",))
        self.up = ScriptedService(settings)
        try:
            yield self.up
        finally:
            self.clock.sleep(10)
            self.up = None
            self.log.append(f"stop {settings.max_batch_size}")

    def warm_up(self, service: ScriptedService) -> None:
        self.log.append("warm up")
        self.clock.sleep(5)

    def measure(self, service: ScriptedService, request: LevelRequest, listener: Listener) -> Level:
        self.log.append(f"measure {request.concurrency}")
        self.admitted.append(request.at_once)
        self.on_measure()
        self.clock.sleep(min(200.0, request.cap_seconds))
        return measurement(self.speed(service.settings), concurrency=request.concurrency)


@dataclass
class ListStore:
    """What the campaign stored, in order."""

    started: list[LaunchRecord] = field(default_factory=list)
    levels: list[tuple[int, Level]] = field(default_factory=list)
    ended_launches: list[LaunchRecord] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    campaign: Campaign | None = None

    def begin(self, campaign: Campaign) -> None:
        self.campaign = campaign

    def launch_started(self, record: LaunchRecord) -> None:
        self.started.append(record)

    def level_ended(self, number: int, level: Level) -> None:
        self.levels.append((number, level))

    def launch_ended(self, record: LaunchRecord) -> None:
        self.ended_launches.append(record)

    def decided(self, decision: Decision) -> None:
        self.decisions.append(decision)

    def ended(self, campaign: Campaign) -> None:
        self.campaign = campaign


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture
def host(clock: JumpingClock) -> ScriptedHost:
    return ScriptedHost(clock=clock, speed=lambda settings: 1000.0 + settings.max_batch_size)


@pytest.fixture
def store() -> ListStore:
    return ListStore()


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def campaign(host: ScriptedHost) -> Campaign:
    return Campaign(
        run="r",
        profile_name="p",
        profile_text="name: p\n",
        description=host.describe(),
        bracket=None,
        strategy="guide",
        started_wall=0.0,
    )


@pytest.fixture
def reading() -> Callable[..., Measurement]:
    return measurement


@pytest.fixture
def without_levels() -> Callable[[LaunchRecord], LaunchRecord]:
    return lambda record: replace(record, levels=())
