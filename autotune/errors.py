"""What can go wrong, as one tree; each leaf knows its exit code and the next step.

AutotuneError (1)
├── UsageError (2)            wrong option, wrong value
│   └── ProfileError          every fault of a profile, with its line
├── Refused (1)               preflight says no; nothing was changed
├── LaunchFailed              a start or a service that died; an outcome of a launch, caught by the campaign
├── NotRestored (4)           something could not be put back; a person must look
├── NotMeasurable (5)         no valid measurement at all
├── Busy (75)                 lock held, window closed, live traffic
├── DeadlineReached (124)     time is up; best so far is reported
└── Interrupted (130)         Ctrl-C or SIGTERM; everything was put back
"""

from dataclasses import dataclass
from enum import Enum, unique
from typing import ClassVar


class AutotuneError(Exception):
    """An expected error: one clear sentence, and the next command or step as its hint."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(AutotuneError):
    """A wrong option or value on the command line or in an input file."""

    exit_code = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One fault of a user's file and where it is."""

    place: str
    """Dotted key path or `line 12, column 3`."""
    line: int | None
    message: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        tail = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.place}: {self.message}{tail}"


class ProfileError(UsageError):
    """A profile that cannot be used, with all of its faults at once."""

    def __init__(self, path: str, faults: tuple[Fault, ...], *, hint: str = "") -> None:
        count = f"{len(faults)} faults" if len(faults) > 1 else "1 fault"
        lines = "\n".join(f"  {fault}" for fault in faults)
        super().__init__(f"{path}: {count}\n{lines}", hint=hint)
        self.path = path
        self.faults = faults


class Refused(AutotuneError):
    """A preflight check says no; the host is as it was."""


@unique
class LaunchCause(Enum):
    """Why a service did not start, or did not live through its load."""

    CONFIG = "config"
    PORT = "port"
    MEMORY = "memory"
    PERMISSION = "permission"
    MODEL = "model"
    GRAPH = "graph"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    READ_BACK = "read_back"
    """The live service reports other values than those that were written."""
    UNKNOWN = "unknown"


class LaunchFailed(AutotuneError):
    """A launch that ended before its time: its class, and the first lines that say why."""

    def __init__(self, cause: LaunchCause, message: str, *, lines: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.cause = cause
        self.lines = lines


class NotRestored(AutotuneError):
    """Something could not be put back as it was."""

    exit_code = 4


class NotMeasurable(AutotuneError):
    """Not one valid measurement."""

    exit_code = 5


class Busy(AutotuneError):
    """Somebody else holds what this run needs."""

    exit_code = 75


class DeadlineReached(AutotuneError):
    """Time is up."""

    exit_code = 124


class Interrupted(AutotuneError):
    """The user asked to stop."""

    exit_code = 130
