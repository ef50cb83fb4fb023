"""Fault runs: one campaign of one launch with one fault, from the fault to what the campaign says of it.

Every run is real: the emulated daemon as a process, its files, its ports, the load client. Only limits that
take minutes are shortened, and the figures are those of emulated faults.
"""

import os
import re
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

from autotune.campaign import run as campaign_run
from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.parts import Bounds, Parts
from autotune.campaign.run import CampaignRun
from autotune.emulator.faults import Faults
from autotune.emulator.install import InstallOptions, make_install
from autotune.engines.mindie import readiness, stopping
from autotune.engines.mindie.engine import MindieEngine
from autotune.engines.mindie.log_watch import LogWatch
from autotune.engines.mindie.options import ConfigMode, MindieOptions
from autotune.errors import LaunchFailed, NotRestored, Refused
from autotune.events import Event, LaunchEnded, LevelEnded, Phase, PhaseChanged, Warned
from autotune.load.own_source import OwnSource
from autotune.load.workload.prompt import Prompt
from autotune.load.workload.workload import Sampling, Workload
from autotune.model.campaign import Campaign
from autotune.model.change import Change, ProcessStarted
from autotune.model.launch import History, Purpose
from autotune.model.launch import Outcome as Outcomes
from autotune.model.measurement import Invalid
from autotune.model.move import Finish, Launch, Measure, Move, VerdictCode
from autotune.model.settings import Settings
from autotune.process.clock import SystemClock
from autotune.process.identity import Identity, alive
from autotune.process.ports import choose_free
from autotune.search.options import Options
from autotune.search.space import Space
from autotune.search.strategy import Strategy, make_strategy
from autotune.sizing.bracket import request_blocks

TIME_SCALE = 40.0
START_SECONDS = 4.0
CLIENTS = 8
START_TIMEOUT, ANSWER_SECONDS, GRACE_SECONDS = 30.0, 1.0, 0.5
"""Shortened from 15 min, 120 s and 30 s."""


@dataclass(frozen=True)
class Outcome:
    """What a campaign says of a fault."""

    cause: str
    message: str
    exit_code: int
    noticed_seconds: float | None
    """From the death of the daemon to its classification; None where no process died by the fault."""


@dataclass
class Journal:
    """Remembers what is open, and which process is the daemon."""

    daemon: ProcessStarted | None = None
    open: list[Change] = field(default_factory=list)

    def record(self, change: Change) -> None:
        if isinstance(change, ProcessStarted):
            self.daemon = change
        self.open.append(change)

    def settle(self, change: Change) -> None:
        self.open.remove(change)


@dataclass
class Stage:
    """One install with a fault in it, and what a fault may do to it."""

    directory: Path
    install: Path
    port: int
    journal: Journal
    environment: dict[str, str]
    stack: ExitStack
    events: list[Event] = field(default_factory=list)
    clock: object = field(default_factory=SystemClock)

    @property
    def config(self) -> Path:
        return self.install / "conf" / "config.json"

    @property
    def work_dir(self) -> Path:
        return self.directory / "work"

    def edit(self, old: str, new: str) -> None:
        text = self.config.read_text()
        assert old in text, old
        self.config.write_text(text.replace(old, new, 1))

    def stand_in(self, script: str) -> None:
        """Put another program in the daemon's place."""
        daemon = self.install / "bin" / "mindieservice_daemon"
        first = daemon.read_text().splitlines()[0]
        daemon.unlink()
        daemon.write_text(f"{first}\n{script}")
        daemon.chmod(0o550)

    def when(self, phase: Phase, act: Callable[[], None], *, after: float = 0.0) -> None:
        """Do something in a phase of the launch, `after` so many seconds."""

        def run(event: Event) -> None:
            if isinstance(event, PhaseChanged) and event.phase is phase:
                timer = threading.Timer(after, act)
                self.stack.callback(timer.cancel)
                timer.start()

        self.listeners.append(run)

    listeners: list[Callable[[Event], None]] = field(default_factory=list)

    def once_it_runs(self, act: Callable[[], None]) -> None:
        """Do something as soon as the daemon has said its pid."""

        def wait() -> None:
            output = self.work_dir / "launch-001" / "output.log"
            while not output.is_file() or b"g_mainPid" not in output.read_bytes():
                time.sleep(0.01)
            act()

        self.when(Phase.STARTING, wait)

    def kill_daemon(self) -> None:
        if self.journal.daemon is not None:
            os.kill(self.journal.daemon.pid, signal.SIGKILL)

    def listen(self, event: Event) -> None:
        self.events.append(event)
        for listener in self.listeners:
            listener(event)


@dataclass(frozen=True)
class FaultRun:
    """One fault in one phase."""

    name: str
    phase: str
    faults: Faults = field(default_factory=Faults)
    prepare: Callable[[Stage], None] = lambda _stage: None
    options: dict[str, object] = field(default_factory=dict)
    kills: bool = False
    """Whether the daemon dies of it, so that the time to notice is measured."""
    install: dict[str, object] = field(default_factory=dict)
    impatient: bool = False
    """Shorten how long a started service may take to its first answer."""
    level_seconds: float = 20.0
    """Longest level, in seconds of the service's clock."""
    launches: int = 1
    batch: int | None = None
    """A maxBatchSize to start with, so that the file is written; None starts with what was found."""


class Deaths(threading.Thread):
    """Notes when the daemon died, by looking every few milliseconds."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(daemon=True)
        self._journal = journal
        self._quit = threading.Event()
        self.died: float | None = None

    def run(self) -> None:
        while not self._quit.wait(0.005) and self.died is None:
            daemon = self._journal.daemon
            if daemon and not alive(Identity(pid=daemon.pid, create_time=daemon.create_time)):
                self.died = time.monotonic()

    @contextmanager
    def watched(self) -> Iterator["Deaths"]:
        self.start()
        try:
            yield self
        finally:
            self._quit.set()
            self.join()


def run_fault(case: FaultRun, directory: Path) -> Outcome:
    """Play it, and check that nothing is left: the journal is settled, the file is as it was."""
    with ExitStack() as stack:
        stage = _stage(case, directory, stack)
        case.prepare(stage)
        before = _fingerprint(stage.config)
        noticed: list[float] = []
        stack.enter_context(_noting(noticed))
        stack.enter_context(_short_limits(impatient=case.impatient))
        deaths = stack.enter_context(Deaths(stage.journal).watched())
        outcome = _outcome(case, stage)
        seconds = noticed[0] - deaths.died if case.kills and noticed and deaths.died is not None else None
    if outcome.exit_code != NotRestored.exit_code:
        assert _fingerprint(stage.config) == before
        assert stage.journal.open == []
    return replace(
        outcome,
        message=lasting(outcome.message, directory),
        noticed_seconds=None if seconds is None else max(0.0, seconds),
    )


@contextmanager
def _noting(noticed: list[float]) -> Iterator[None]:
    """When the first failure is put into words is when it was noticed."""
    failure, memory = LogWatch.failure, LogWatch.memory_ran_out

    def noting(self: LogWatch, *arguments: object, **options: object) -> LaunchFailed:
        noticed.append(time.monotonic())
        return failure(self, *arguments, **options)  # type: ignore[arg-type] - passed on as it came

    def noting_memory(self: LogWatch) -> LaunchFailed | None:
        found = memory(self)
        if found is not None:
            noticed.append(time.monotonic())
        return found

    with (
        mock.patch.object(LogWatch, "failure", noting),
        mock.patch.object(LogWatch, "memory_ran_out", noting_memory),
    ):
        yield


@contextmanager
def _short_limits(*, impatient: bool) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(stopping, "GRACE_SECONDS", GRACE_SECONDS))
        stack.enter_context(mock.patch.object(campaign_run, "_GOING_SECONDS", GRACE_SECONDS))
        for name in ("ANSWER_SECONDS", "REPLY_SECONDS") if impatient else ():
            stack.enter_context(mock.patch.object(readiness, name, ANSWER_SECONDS))
        yield


def _stage(case: FaultRun, directory: Path, stack: ExitStack) -> Stage:
    business, management, metrics = choose_free(3)
    options = InstallOptions(
        time_scale=TIME_SCALE,
        start_seconds=START_SECONDS,
        port=business,
        management_port=management,
        metrics_port=metrics,
        faults=case.faults,
    )
    install = make_install(directory / "install", replace(options, **case.install))
    home = directory / "home"
    home.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "MINDIE_LOG_LEVEL": "ERROR",
        "MINDIE_LOG_TO_STDOUT": "0",
        "MINDIE_LOG_TO_FILE": "1",
    }
    return Stage(
        directory=directory,
        install=install,
        port=business,
        journal=Journal(),
        environment=environment,
        stack=stack,
    )


def _fingerprint(path: Path) -> tuple[bytes, int, int]:
    status = path.lstat()
    return path.read_bytes(), stat.S_IMODE(status.st_mode), status.st_uid


def _outcome(case: FaultRun, stage: Stage) -> Outcome:
    try:
        return _campaign(case, stage)
    except (Refused, NotRestored) as refused:
        name = "refused" if isinstance(refused, Refused) else "not restored"
        return Outcome(name, refused.message, refused.exit_code, None)


def _campaign(case: FaultRun, stage: Stage) -> Outcome:
    options = MindieOptions(
        home=stage.install,
        work_dir=stage.work_dir,
        journal=stage.journal,
        environment=stage.environment,
        config_mode=ConfigMode.IN_PLACE,
        start_timeout=START_TIMEOUT,
        listener=stage.listen,
        clock=stage.clock,
    )
    engine = MindieEngine(replace(options, **case.options))
    description = engine.describe()
    request = request_blocks(
        input_tokens=32, output_tokens=48, max_output_tokens=64, block_size=description.block_size
    )
    space = Space(
        incumbent=description.incumbent,
        request=request,
        mean_input_tokens=32,
        max_input_token_len=2048,
        bounds_high=5000,
        concurrency=CLIENTS,
        blocks=None,
        shared=None,
    )
    clock = InterruptibleClock(stage.clock)  # type: ignore[arg-type] - a Clock by its methods
    parts = Parts(
        engine=engine,
        source=_source(),
        strategy=_strategy(case, space),
        store=Store(),
        clock=clock,
        listener=stage.listen,
    )
    campaign = Campaign(
        run="fault", profile_name="fault", profile_text="", description=description, bracket=None,
        strategy="guide", started_wall=clock.wall(),
    )  # fmt: skip
    bounds = Bounds(max_launches=case.launches, level_cap_seconds=case.level_seconds)
    return _said(stage, CampaignRun(campaign, parts, bounds).run().exit_code)


def _strategy(case: FaultRun, space: Space) -> Strategy:
    if case.batch is not None:
        return Once(Settings(max_batch_size=case.batch))
    return make_strategy("guide", space, Options(max_launches=case.launches, seed=1))


class Once:
    """Starts the service with one setting, measures once, and is done."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def next_move(self, history: History) -> Move:
        if not history.launches:
            return Launch(settings=self._settings, purpose=Purpose.CANDIDATE, reason="a fault run")
        if history.launches[-1].outcome is Outcomes.PENDING and not history.launches[-1].levels:
            return Measure(concurrency=CLIENTS, half_width=0.2, reason="a fault run")
        return Finish(settings=None, code=VerdictCode.NOT_MEASURABLE, reason="done")


def _said(stage: Stage, exit_code: int) -> Outcome:
    """The class and the first sentence: of the launch, else of a level, else of a warning."""
    record = next(event.record for event in stage.events if isinstance(event, LaunchEnded))
    if record.cause is not None:
        lines = record.detail.splitlines()
        return Outcome(record.cause.value, _told(lines), exit_code, None)
    invalid = [event.level for event in stage.events if isinstance(event, LevelEnded)]
    for level in invalid:
        if isinstance(level, Invalid):
            return Outcome(f"invalid: {level.reason.value}", level.detail, exit_code, None)
    warned = [event.message for event in stage.events if isinstance(event, Warned)]
    counts = [event.record.blocks for event in stage.events if isinstance(event, LaunchEnded)]
    blocks = ", then ".join("unknown" if count is None else str(count) for count in counts)
    return Outcome("none", warned[0] if warned else f"measured; blocks {blocks}", exit_code, None)


def _told(lines: list[str]) -> str:
    """The message, and the line of the service that it stands on, if there is one."""
    if len(lines) < 2 or lines[1] in lines[0]:
        return lines[0]
    return f"{lines[0]}: {lines[1]}"


_LOG_HEAD = re.compile(r"\[\d{4}-\d\d-\d\d[^\]]*\](?: \[[^\]]*\])+ : ")
_CHANGING = (
    (_LOG_HEAD, ""),
    (re.compile(r"g_mainPid = \d+"), "g_mainPid = PID"),
    (re.compile(r"\bpid \d+( \(.*\))?"), "pid PID"),
    (re.compile(r"\(pid \d+\)|\(\d+\)"), "(PID)"),
    (re.compile(r"\bProcess \d+"), "Process PID"),
    (re.compile(r"\bport \d+"), "port PORT"),
    (re.compile(r"after \d+ s\b(?! after)"), "after SECONDS"),
    (re.compile(r"for \d+ s\b"), "for SECONDS"),
    (re.compile(r"\b(?:\d+ of )?\d+ requests"), "COUNT requests"),
    (re.compile(r"\b\d+ (?=http_|cut\b)"), "COUNT "),
    (re.compile(r"\.[0-9a-f]{16}\."), ".HASH."),
)


def lasting(message: str, directory: Path) -> str:
    """The message without what differs from run to run."""
    text = message.replace(str(directory), "DIR")
    for pattern, words in _CHANGING:
        text = pattern.sub(words, text)
    return text


def _source() -> OwnSource:
    prompts = tuple(Prompt(text=f"say {number}") for number in range(CLIENTS * 2))
    workload = Workload(prompts=prompts, max_output_tokens=48, sampling=Sampling(ignore_eos=True))
    return OwnSource(workload, "tgi", time_scale=TIME_SCALE)


class Store:
    """Keeps nothing: the events tell all."""

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_arguments: None
