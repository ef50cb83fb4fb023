"""Launching: one start of the server, every step undone in reverse order whatever happens."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import final

from autotune.engines.vllm.control import Control
from autotune.engines.vllm.directory import Directory
from autotune.engines.vllm.engine_processes import EngineProcesses
from autotune.engines.vllm.log_watch import LogWatch
from autotune.engines.vllm.options import VllmOptions
from autotune.engines.vllm.read_back import blocks_of, check_served, padding_warning
from autotune.engines.vllm.readiness import Start
from autotune.engines.vllm.running import Parts, RunningVllm
from autotune.engines.vllm.stopping import stop
from autotune.engines.vllm.trial import Trial, argv_of
from autotune.errors import LaunchFailed
from autotune.events import Warned
from autotune.model.change import ProcessStarted
from autotune.process.child import Child, start
from autotune.process.held_back import held_back
from autotune.process.identity import Identity, boot_id
from autotune.process.ports import wait_until_free
from autotune.process.subreaper import adopting_orphans
from autotune.process.tree import Tree


@final
@dataclass(kw_only=True, slots=True)
class _Started:
    """A process that was started, and the one of its tree that listens once that is known."""

    child: Child
    tree: Tree
    change: ProcessStarted
    server: Identity | None = None


@contextmanager
def launched(
    options: VllmOptions, trial: Trial, directory: Directory, *, block_size: int
) -> Iterator[RunningVllm]:
    """Start the server and stop it at the end.

    Raises LaunchFailed when it does not get ready, NotRestored when something of it can't be ended.
    """
    stack = ExitStack()
    try:
        options.before_start()
        wait_until_free((trial.facts.port,), clock=options.clock)
        stack.enter_context(adopting_orphans())
        with held_back():
            started = _start(options, trial, directory, stack)
        yield _ready(options, trial, directory, started, stack, block_size=block_size)
    finally:
        with held_back():
            stack.close()


def _start(options: VllmOptions, trial: Trial, directory: Directory, stack: ExitStack) -> _Started:
    change: ProcessStarted | None = None
    argv = argv_of(trial, directory.launch)

    def record(identity: Identity) -> None:
        nonlocal change
        change = ProcessStarted(
            pid=identity.pid,
            create_time=identity.create_time,
            boot_id=boot_id(options.proc),
            command=argv[0],
        )
        options.journal.record(change)

    try:
        child = start(
            [*options.prefix, *argv],
            env=trial.environment,
            cwd=directory.cwd,
            output=directory.output,
            cpus=options.cpus,
            new_session=True,
            before_exec=record,
        )
    except LaunchFailed:
        if change is not None:
            options.journal.settle(change)
        raise
    assert change is not None, "start() calls before_exec"
    started = _Started(child=child, tree=Tree(child.identity, proc=options.proc), change=change)
    stack.callback(_stop, options, started)
    return started


def _stop(options: VllmOptions, started: _Started) -> None:
    stop(
        started.child,
        started.tree,
        started.change,
        started.server,
        grace=options.grace,
        journal=options.journal,
        listener=options.listener,
    )


def _ready(
    options: VllmOptions,
    trial: Trial,
    directory: Directory,
    started: _Started,
    stack: ExitStack,
    *,
    block_size: int,
) -> RunningVllm:
    facts, watch = trial.facts, LogWatch(directory.output)
    control = stack.enter_context(Control(facts.url, tls=options.tls, api_key=facts.api_key))
    model_name = options.model_name or facts.model_name
    started.server = Start(
        child=started.child,
        tree=started.tree,
        watch=watch,
        control=control,
        facts=facts,
        model_name=model_name,
        clock=options.clock,
        timeout=options.start_timeout,
        proc=options.proc,
    ).wait()
    log = watch.reading()
    check_served(log, trial.settings, named=facts.max_num_seqs is not None)
    padding = padding_warning(log, trial.settings.max_batch_size)
    if padding:
        options.listener(Warned(message=padding, hint="choose values among the captured sizes: search.grid"))
    parts = Parts(
        child=started.child,
        watch=watch,
        control=control,
        trial=trial,
        processes=EngineProcesses(started.tree, options.processes_seen),
        clock=options.clock,
        model_name=model_name,
    )
    return RunningVllm(parts, blocks_of(control, log, block_size=block_size))
