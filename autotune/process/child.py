"""Child: a process that this tool started, prepared as a service needs it, named before it runs anything."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import final

from autotune.errors import LaunchCause, LaunchFailed
from autotune.process.identity import Identity, identity_of

MARKER = "AUTOTUNE_ROOT"
"""Environment variable by which descendants of a child are recognised: `<pid>.<start ticks>` of the child."""

_EXEC_CHILD = Path(__file__).with_name("exec_child.py")
_PERMISSION_ERRORS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}
_started: set[int] = set()
TERMINAL_SIGNALS = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGHUP})
"""What a terminal sends to a whole process group: Ctrl-C, Ctrl-\\, and its own end."""


@final
class Child:
    """A started process. Its exit code stays readable after it ended."""

    def __init__(self, popen: "subprocess.Popen[bytes]", identity: Identity, output: Path) -> None:
        self._popen = popen
        self.identity = identity
        self.output = output
        """File that takes standard output and standard error."""

    @property
    def pid(self) -> int:
        """Its pid; after the end only good for messages."""
        return self.identity.pid

    def poll(self) -> int | None:
        """Give the exit code, negative for a signal; None while it runs."""
        code = self._popen.poll()
        if code is not None:
            _started.discard(self.pid)
        return code

    def wait(self, seconds: float) -> int | None:
        """Wait for the end, at most that long."""
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return self.poll()


def started_pids() -> frozenset[int]:
    """Pids of the children that were started here and not seen to end."""
    return frozenset(_started)


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    output: Path,
    cpus: Collection[int] | None = None,
    new_session: bool = False,
    ours: bool = True,
    before_exec: Callable[[Identity], None] | None = None,
) -> Child:
    """Start a command in its own process group, or with `new_session` in its own session.

    It never is a session leader otherwise: MindIE's daemon calls setpgrp() and exits when that fails, which
    it always does for a session leader. Standard input is /dev/null, no core is dumped, and `env` is all of
    its environment plus `MARKER`. With `ours` false it gets neither the mark nor the limit: a user's own
    command may leave something behind that is to stay. `before_exec` is called with its identity before it
    becomes the command, so that a journal can name it first.

    Raises LaunchFailed when the command cannot be run, or when the kernel does not give all of `cpus`.
    """
    read_end, write_end = os.pipe2(os.O_CLOEXEC)
    try:
        popen = _prepared(output, write_end, "session" if new_session else "group")
    except OSError:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    with os.fdopen(read_end, "rb") as report:
        identity = _identity(popen)
        _started.add(popen.pid)
        order = _order(argv, env=env, cwd=cwd, cpus=cpus, marker=MARKER if ours else "")
        _release(popen, order, identity, before_exec)
        failure = report.read()
    child = Child(popen, identity, output)
    if failure:
        child.wait(5.0)
        raise _not_started(argv, cwd, failure.decode(errors="replace"))
    return child


def _prepared(output: Path, report: int, leads: str) -> "subprocess.Popen[bytes]":
    """Start what will become the command; it hears no terminal until it has left our process group."""
    out = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINAL_SIGNALS)
    deaf = ",".join(str(int(number)) for number in TERMINAL_SIGNALS - set(heard))
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_EXEC_CHILD), str(report), leads, deaf],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            pass_fds=(report,),
            cwd="/",
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        os.close(out)


def _identity(popen: "subprocess.Popen[bytes]") -> Identity:
    identity = identity_of(popen.pid)
    if identity is None:  # cannot be while nobody has waited for it
        raise LaunchFailed(LaunchCause.UNKNOWN, f"process {popen.pid} is not in /proc; is it mounted?")
    return identity


def _order(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, cpus: Collection[int] | None, marker: str
) -> bytes:
    order = {
        "argv": list(argv),
        "env": dict(env),
        "cwd": str(cwd),
        "cpus": sorted(cpus or ()),
        "marker": marker,
    }
    return json.dumps(order).encode()


def _release(
    popen: "subprocess.Popen[bytes]",
    order: bytes,
    identity: Identity,
    before_exec: Callable[[Identity], None] | None,
) -> None:
    """Give the word to go; when `before_exec` fails the process gets an empty order and ends by itself."""
    if popen.stdin is None:
        return
    try:
        with popen.stdin as pipe:
            if before_exec is not None:
                before_exec(identity)
            pipe.write(order)
    except BrokenPipeError as error:
        popen.wait()
        _started.discard(popen.pid)
        raise LaunchFailed(LaunchCause.CRASHED, "the starting process was killed from outside") from error
    except BaseException:
        popen.wait()
        _started.discard(popen.pid)
        raise


def _not_started(argv: Sequence[str], cwd: Path, report: str) -> LaunchFailed:
    number, _, message = report.partition("\n")
    cause = LaunchCause.PERMISSION if int(number) in _PERMISSION_ERRORS else LaunchCause.UNKNOWN
    return LaunchFailed(cause, f"cannot start {argv[0]} in {cwd}: {message}", lines=(message,))
