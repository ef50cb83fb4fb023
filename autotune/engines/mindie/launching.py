"""Launching: one start of the daemon, every step undone in reverse order whatever happens."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autotune.engines.mindie.config_text import settings_of
from autotune.engines.mindie.control import ControlPlane
from autotune.engines.mindie.daemon_environment import LOG_PATH, MONITOR_MODE, daemon_environment
from autotune.engines.mindie.installation import Installation
from autotune.engines.mindie.leftovers import noted, remove_new, snapshot
from autotune.engines.mindie.log_watch import LogWatch, copy_tails, newest_logs
from autotune.engines.mindie.options import MindieOptions
from autotune.engines.mindie.read_back import blocks_from_status, check_served, served
from autotune.engines.mindie.readiness import Start
from autotune.engines.mindie.running import Parts, RunningMindie
from autotune.engines.mindie.stopping import stop
from autotune.engines.mindie.trial import Trial
from autotune.errors import LaunchCause, LaunchFailed, Refused
from autotune.model.change import ProcessStarted
from autotune.model.service import Blocks, BlockSource
from autotune.process.child import Child, start
from autotune.process.held_back import held_back
from autotune.process.identity import Identity, boot_id
from autotune.process.ports import wait_until_free
from autotune.process.subreaper import adopting_orphans
from autotune.process.tree import Tree


@dataclass(frozen=True, kw_only=True, slots=True)
class Directory:
    """The places of one launch below the working directory."""

    launch: Path
    """Output and logs of this launch."""
    cwd: Path
    """Working directory of the daemon, shared by all launches: it writes kernel_meta there."""
    since: float
    """When the launch began, in seconds since the epoch."""

    @property
    def output(self) -> Path:
        """What the daemon prints."""
        return self.launch / "output.log"

    @property
    def logs(self) -> Path:
        """Where the daemon writes its log files."""
        return self.launch / "log"


def make_directory(work_dir: Path, *, since: float) -> Directory:
    """Make the places of the next launch. Raises LaunchFailed(PERMISSION) when that cannot be done."""
    number = 1 + sum(1 for _ in work_dir.glob("launch-*"))
    directory = Directory(launch=work_dir / f"launch-{number:03d}", cwd=work_dir / "cwd", since=since)
    try:
        for path, mode in ((directory.launch, 0o700), (directory.cwd, 0o750), (directory.logs, 0o750)):
            path.mkdir(mode=mode, parents=True, exist_ok=True)
        (directory.cwd / ".writable").touch()
        (directory.cwd / ".writable").unlink()
    except OSError as error:
        message = f"the working directory cannot be written: {error.filename}: {error.strerror}"
        raise LaunchFailed(LaunchCause.PERMISSION, message, lines=(message,)) from error
    return directory


@contextmanager
def launched(
    options: MindieOptions, installation: Installation, trial: Trial, directory: Directory
) -> Iterator[RunningMindie]:
    """Start the daemon on a configuration that is in place already, and stop it at the end.

    Raises LaunchFailed when it does not get ready, Refused when its start cannot be journalled, NotRestored
    when something of it cannot be ended.
    """
    stack = ExitStack()
    try:
        parts = _start(options, installation, trial, directory, stack)
        try:
            service = _ready(options, installation, trial, parts)
        except LaunchFailed:
            parts.keep_logs()
            raise
        yield service
    finally:
        with held_back():
            stack.close()


def _start(
    options: MindieOptions,
    installation: Installation,
    trial: Trial,
    directory: Directory,
    stack: ExitStack,
) -> Parts:
    environment = daemon_environment(
        options.environment,
        home=installation.home,
        config=trial.private_path,
        log_directory=directory.logs,
        logs=options.logs,
        monitoring=options.monitoring,
    )
    elsewhere = partial(_logs_elsewhere, options, installation, since=directory.since)
    options.before_start()
    wait_until_free(trial.addresses.ports, clock=options.clock)
    segments = snapshot(options.shared_memory)
    stack.callback(remove_new, options.shared_memory, segments, proc=options.proc)
    stack.enter_context(adopting_orphans())
    with held_back():
        child, tree = _start_child(options, installation, environment, directory, noted(segments), stack)
    control = stack.enter_context(ControlPlane(options.tls))
    return Parts(
        child=child,
        tree=tree,
        watch=LogWatch(directory.output, directory.logs, elsewhere=elsewhere),
        control=control,
        addresses=trial.addresses,
        clock=options.clock,
        monitored=environment.get(MONITOR_MODE) == "1",
        keep_logs=partial(_keep_logs, elsewhere, directory),
        processes_seen=options.processes_seen,
    )


def _start_child(
    options: MindieOptions,
    installation: Installation,
    environment: dict[str, str],
    directory: Directory,
    segments: tuple[str, ...],
    stack: ExitStack,
) -> tuple[Child, Tree]:
    change: ProcessStarted | None = None

    def record(identity: Identity) -> None:
        nonlocal change
        change = ProcessStarted(
            pid=identity.pid,
            create_time=identity.create_time,
            boot_id=boot_id(options.proc),
            command=str(installation.executable),
            shared_memory=str(options.shared_memory),
            segments_before=segments,
        )
        options.journal.record(change)

    try:
        child = start(
            [*options.prefix, str(installation.executable)],
            env=environment,
            cwd=directory.cwd,
            output=directory.output,
            cpus=options.cpus,
            before_exec=record,
        )
    except (LaunchFailed, OSError) as error:
        if change is not None:
            options.journal.settle(change)
        if isinstance(error, OSError):
            raise Refused(
                f"the crash journal or the output of a start cannot be written: {error}",
                hint=f"free some space below {options.work_dir}; the service was not started",
            ) from error
        raise
    assert change is not None, "start() calls before_exec"
    tree = Tree(child.identity, proc=options.proc)
    stack.callback(stop, child, tree, change, journal=options.journal, listener=options.listener)
    return child, tree


def _ready(options: MindieOptions, installation: Installation, trial: Trial, parts: Parts) -> RunningMindie:
    Start(
        child=parts.child,
        tree=parts.tree,
        watch=parts.watch,
        control=parts.control,
        addresses=parts.addresses,
        clock=options.clock,
        timeout=options.start_timeout,
        forbidden_port=installation.addresses.port if trial.private_path else None,
    ).wait()
    check_served(
        served(parts.control, parts.addresses),
        trial.settings,
        before=settings_of(installation.config.config),
        version=installation.version,
    )
    parts.processes_seen(parts.tree.pids())
    blocks = blocks_from_status(parts.control, parts.addresses) or _blocks_from_log(parts.watch)
    return RunningMindie(parts, model_name=trial.model_name, blocks=blocks)


def _blocks_from_log(watch: LogWatch) -> Blocks | None:
    watch.look()
    count = watch.reading().blocks
    return None if count is None else Blocks(count=count, source=BlockSource.LOG)


def _logs_elsewhere(options: MindieOptions, installation: Installation, *, since: float) -> tuple[Path, ...]:
    """Give the newest files that old versions wrote where they always do."""
    home = Path(options.environment.get("HOME", "~")).expanduser()
    places = [home / "mindie/log", installation.home / "logs", installation.home.parent / "mindie-llm/logs"]
    own = options.environment.get(LOG_PATH)
    return newest_logs([*places, *([Path(own)] if own else [])], since=since)


def _keep_logs(elsewhere: Callable[[], tuple[Path, ...]], directory: Directory) -> None:
    """Copy what the service logged elsewhere beside the launch."""
    newest = elsewhere()
    if newest:
        copy_tails(newest, directory.launch / "found")
