"""Log watch: what the service prints and logs while it starts, and why it died when it did."""

import re
import signal
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import final

from autotune.errors import LaunchCause, LaunchFailed
from autotune.mindie_rules.log_failures import MOST_LINES, first_failure
from autotune.mindie_rules.log_lines import LogReading, is_start_line, read_lines
from autotune.process.kernel_kills import kernel_kills
from autotune.process.output import OutputReader, plain, tail

HEAD_LINES, TAIL_LINES = 10_000, 5_000
SHOWN_LINES = 8
NEWEST_FILES = 8
_PROMPT = re.compile(
    r"(?:pass(?:word|wd|code| ?phrase)\b[^\n]*|(?:密码|口令)[^\n]*)[:?：？>]\s*$", re.IGNORECASE
)
_WHOLE_LINE_PROMPT = re.compile(r"^\W*(?:please\s+)?(?:enter|input|type|provide|请?输入)", re.IGNORECASE)
"""A question that ends with a line end asks in its first words; a message about passwords does not."""
_ERROR = re.compile(r"\b(?:ERROR|CRITICAL|FATAL)\b|^\w*(?:Error|Exception)\b")


@final
class LogWatch:
    """Follows the output and every log file that appears below one directory."""

    def __init__(
        self,
        output: Path,
        log_directory: Path,
        *,
        elsewhere: Callable[[], tuple[Path, ...]] = tuple,
        kills: Callable[[], int | None] = kernel_kills,
    ) -> None:
        """`elsewhere` gives what a version wrote that does not know MINDIE_LOG_PATH; read once it failed.

        `kills` counts what the kernel killed for want of memory: an own kill looks the same from outside.
        """
        self._output = output
        self._elsewhere = elsewhere
        self._kills = kills
        self._kills_before = kills()
        self._directory = log_directory
        self._readers: dict[Path, OutputReader] = {output: OutputReader(output)}
        self._lines: list[str] = []
        self._last_output = ""
        self.announced = False
        """Whether the start line was seen; it says little about the model's answers."""

    def look(self) -> tuple[str, ...]:
        """Read what came since the last look, and give it."""
        came: list[str] = []
        for path in sorted(self._directory.rglob("*.log")) if self._directory.is_dir() else ():
            self._readers.setdefault(path, OutputReader(path))
        for reader in self._readers.values():
            lines = reader.new_lines()
            if lines and reader is self._readers[self._output]:
                self._last_output = lines[-1]
            self.announced = self.announced or any(map(is_start_line, lines))
            came.extend(lines)
        self._lines.extend(came)
        if len(self._lines) > HEAD_LINES + TAIL_LINES:
            del self._lines[HEAD_LINES:-TAIL_LINES]
        return tuple(came)

    def prompt(self) -> str:
        """Give a question for a password that the output ends with; empty when there is none."""
        rest = plain(self._readers[self._output].unfinished).strip()
        if rest:
            return rest if _PROMPT.search(rest) else ""
        line = self._last_output.strip()
        return line if _WHOLE_LINE_PROMPT.match(line) and _PROMPT.search(line) else ""

    def cap(self) -> None:
        """Keep the output file from filling the disk."""
        self._readers[self._output].cap()

    def reading(self) -> LogReading:
        """Read the lines so far as those of one start."""
        return read_lines(self._lines)

    def memory_ran_out(self) -> LaunchFailed | None:
        """Look, and say so when the service tells that NPU memory ran out: such requests get no reply."""
        failure = first_failure(self.look())
        if failure is None or failure.cause is not LaunchCause.MEMORY:
            return None
        message = f"the service ran out of memory under load: {failure.lines[0]}"
        return LaunchFailed(LaunchCause.MEMORY, message, lines=failure.lines)

    def failure(self, returncode: int | None, *, seconds: float, started: bool) -> LaunchFailed:
        """Say why it ended, from its lines first, else from its exit code."""
        self.look()
        reading = self.reading()
        if reading.cause is None:
            self._lines.extend(line for path in self._elsewhere() for line in _tail(path))
            reading = self.reading()
        if returncode == -signal.SIGKILL and reading.cause in {None, LaunchCause.CRASHED} and self._starved():
            message = "the kernel killed the service for want of the host's memory (oom_kill of its cgroup)"
            return LaunchFailed(LaunchCause.MEMORY, message, lines=(message,))
        cause = reading.cause or LaunchCause.UNKNOWN
        if started and cause in {LaunchCause.UNKNOWN, LaunchCause.CONFIG, LaunchCause.PORT}:
            cause = LaunchCause.CRASHED
        lines = reading.error_lines
        if cause in {LaunchCause.UNKNOWN, LaunchCause.CRASHED}:  # what is behind it stands before it
            lines = self._first_errors() or lines
        lines = lines or tail(self._output, lines=SHOWN_LINES)
        what = "died under load" if started else "did not start"
        how = _how(returncode, started=started, told=cause is not LaunchCause.UNKNOWN)
        return LaunchFailed(cause, f"the service {what}: {how} after {seconds:.0f} s", lines=lines)

    def _starved(self) -> bool:
        now = self._kills()
        return now is not None and self._kills_before is not None and now > self._kills_before

    def _first_errors(self) -> tuple[str, ...]:
        errors = (line.strip() for line in self._lines if _ERROR.search(line))
        return tuple(islice(dict.fromkeys(errors), MOST_LINES))


def _how(returncode: int | None, *, started: bool, told: bool) -> str:
    """`told` says that its lines tell of a failure; a start that fails ends its own group, so only then."""
    match returncode:
        case None:
            return "no answer"
        case 255:
            return "exit code 255 (it refuses its command line, or could not lead a process group)"
        case -9 if not started and told:
            return "it killed its own process group (exit -9)"
        case -9:
            return "killed (signal 9), by itself, by somebody, or by the kernel for want of memory"
        case code if code < 0:
            return f"signal {-code}"
        case code:
            return f"exit code {code}"


def _tail(path: Path) -> tuple[str, ...]:
    try:
        return tail(path, lines=TAIL_LINES)
    except OSError:
        return ()


def newest_logs(directories: Iterable[Path], *, since: float) -> tuple[Path, ...]:
    """Give the newest log files that were written after `since` (seconds since the epoch)."""
    found: list[tuple[float, Path]] = []
    for directory in directories:
        for path in directory.rglob("*.log") if directory.is_dir() else ():
            try:
                written = path.stat().st_mtime
            except FileNotFoundError:
                continue
            if written >= since:
                found.append((written, path))
    return tuple(path for _, path in sorted(found, reverse=True)[:NEWEST_FILES])


def copy_tails(paths: Iterable[Path], target: Path) -> None:
    """Keep the last part of each log file beside the launch; what cannot be read is left out."""
    target.mkdir(mode=0o700, exist_ok=True)
    for path in paths:
        text = "".join(f"{plain(line)}\n" for line in _tail(path))
        if text:
            (target / path.name).write_text(text, encoding="utf-8")
