"""Command: a user's own program, run to its end; what it leaves running stays running."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which

from autotune.errors import LaunchCause, LaunchFailed
from autotune.process.child import Child, start
from autotune.process.clock import SystemClock
from autotune.process.ending import end
from autotune.process.output import tail
from autotune.process.tree import Tree

_SHOWN_LINES = 3
_GRACE_SECONDS = 5.0


def begin(argv: Sequence[str], *, env: Mapping[str, str], output: Path) -> Child:
    """Start the program and do not wait; a bare name is looked up in the PATH of `env`.

    Raises LaunchFailed when it cannot be run.
    """
    found = which(argv[0], path=env.get("PATH"))
    if found is None:
        raise LaunchFailed(LaunchCause.UNKNOWN, f"there is no command {argv[0]}")
    program = str(Path(found).absolute())
    return start([program, *argv[1:]], env=env, cwd=Path("/"), output=output, ours=False)


def run(argv: Sequence[str], *, env: Mapping[str, str], output: Path, seconds: float) -> None:
    """Run the program to its end.

    Raises LaunchFailed with its last lines when it fails, or when it takes longer than `seconds`; then it is
    ended with its descendants.
    """
    child = begin(argv, env=env, output=output)
    code = child.wait(seconds)
    if code is None:
        end(Tree(child.identity), grace=_GRACE_SECONDS, clock=SystemClock(), child=child)
        raise LaunchFailed(LaunchCause.TIMEOUT, f"{argv[0]} takes longer than {seconds:.0f} s")
    if code != 0:
        raise failed(argv, code, output)


def failed(argv: Sequence[str], code: int, output: Path) -> LaunchFailed:
    """Say that a command ended with an exit code other than 0, and what it printed last."""
    lines = tail(output, lines=_SHOWN_LINES)
    said = f": {' / '.join(lines)}" if lines else ""
    return LaunchFailed(LaunchCause.UNKNOWN, f"{' '.join(argv)} ended with {code}{said}", lines=lines)
