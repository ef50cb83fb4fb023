"""Log watch: what the server prints, and why it ended when it did."""

from collections.abc import Callable
from pathlib import Path
from typing import final

from autotune.engines.vllm.log_failures import error_lines, first_failure
from autotune.engines.vllm.log_lines import LogReading, read_lines
from autotune.errors import LaunchCause, LaunchFailed
from autotune.process.kernel_kills import kernel_kills
from autotune.process.output import OutputReader, tail

HEAD_LINES, TAIL_LINES = 10_000, 5_000
SHOWN_LINES = 8
_WEAK = {LaunchCause.CONFIG, LaunchCause.PORT, LaunchCause.UNKNOWN}
"""What can't be the cause of a death under load."""
_STARVED = "the kernel killed a process of the server for want of the host's memory (oom_kill of its cgroup)"


@final
class LogWatch:
    """Follows the output of one launch.

    `kills` counts what the kernel killed for want of memory: a worker killed so looks like any dead worker.
    """

    def __init__(self, output: Path, *, kills: Callable[[], int | None] = kernel_kills) -> None:
        self._output = output
        self._reader = OutputReader(output)
        self._kills = kills
        self._kills_before = kills()
        self._lines: list[str] = []

    def look(self) -> None:
        """Read what came since the last look."""
        self._lines.extend(self._reader.new_lines())
        if len(self._lines) > HEAD_LINES + TAIL_LINES:
            del self._lines[HEAD_LINES:-TAIL_LINES]

    def cap(self) -> None:
        """Keep the output file from filling the disk."""
        self._reader.cap()

    def reading(self) -> LogReading:
        """Read the lines so far."""
        self.look()
        return read_lines(self._lines)

    def failure(self, how: str, *, started: bool, otherwise: LaunchCause) -> LaunchFailed:
        """Say why it ended: from its lines first; `how` and `otherwise` where they do not tell."""
        self.look()
        found = first_failure(self._lines)
        cause = found.cause if found else otherwise
        if started and cause in _WEAK:
            cause = LaunchCause.CRASHED
        if cause in {LaunchCause.CRASHED, LaunchCause.UNKNOWN} and self._starved():
            return LaunchFailed(LaunchCause.MEMORY, f"{_STARVED}: {how}", lines=(_STARVED,))
        lines = found.lines if found else error_lines(self._lines)
        what = "died under load" if started else "did not start"
        return LaunchFailed(
            cause, f"the server {what}: {how}", lines=lines or tail(self._output, lines=SHOWN_LINES) or (how,)
        )

    def _starved(self) -> bool:
        now = self._kills()
        return now is not None and self._kills_before is not None and now > self._kills_before


def how_it_ended(code: int, seconds: float) -> str:
    """An exit code in words; 0 is no success, since a server that loses its engine also ends with it."""
    after = f"after {seconds:.0f} s"
    if code < 0:
        return f"signal {-code} {after}"
    return f"it ended by itself, exit code {code}, {after}"
