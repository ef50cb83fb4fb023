"""Options of the MindIE engine: where the service is, how it may be touched, and what it is given."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum, unique
from pathlib import Path

from autotune.engines.tls import Tls
from autotune.engines.unheard import no_gate, no_listener, no_watch
from autotune.model.protocols import Clock, Journal, Listener
from autotune.process.clock import SystemClock
from autotune.process.identity import PROC

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the kernel's shared memory, not a temporary file of ours


@unique
class ConfigMode(Enum):
    """Which file a launch's values are written to."""

    PRIVATE = "private"
    """A copy in the working directory, with loopback ports of its own; production's file stays as it is."""
    IN_PLACE = "in-place"
    """The service's own file, journalled first and put back at the end; only with the user's consent."""
    AUTO = "auto"
    """Private, and refused where the started service turns out to read its own file all the same."""


@unique
class Logs(Enum):
    """How much the service logs; it slows a service down, so measured starts log as production does."""

    PRODUCTION = "production"
    PROBING = "probing"
    """INFO to the output, for lines that production's level hides; never for a measured launch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MindieOptions:
    """Everything that a MindieEngine is told."""

    home: Path
    """The mindie-service directory, or the mindie_llm package directory of a wheel."""
    work_dir: Path
    """Private copies, the service's working directory, its output and backups; made when missing."""
    journal: Journal
    environment: Mapping[str, str]
    """All that the service sees, as captured in a shell that sourced its set_env.sh files."""
    config_mode: ConfigMode = ConfigMode.AUTO
    start_timeout: float = 900.0
    """Seconds of the host's clock until the first real answer."""
    model_name: str | None = None
    """Override of the configuration's modelName, in requests only."""
    cpus: frozenset[int] | None = None
    """CPUs of the daemon and of what does not bind itself; None leaves them alone."""
    prefix: tuple[str, ...] = ()
    """Words before the daemon's command, such as those of numactl; they must become the daemon by exec."""
    processes_seen: Callable[[Collection[int]], None] = no_watch
    """Given the pids of the daemon and all that descend from it, once it is ready and again under load."""
    logs: Logs = Logs.PRODUCTION
    max_link_num: int | None = None
    """Raise maxLinkNum to this in every launch, the incumbent's too; None leaves what is found."""
    probing: bool = False
    """Allow one start more, at INFO, where nothing else tells the KV blocks."""
    monitoring: bool | None = None
    """MIES_SERVICE_MONITOR_MODE of all launches; None leaves the environment's own."""
    chip: str = ""
    """Name of the NPU, where known: the 300I Duo has narrower bounds."""
    tls: Tls | None = None
    live_service: bool = False
    """A service that runs now is known, and the caller stops it before the first launch."""
    before_start: Callable[[], None] = no_gate
    """Called before each start; waits until the NPU memory is back. What it raises when it is not ends it:
    LaunchFailed this launch, Refused the campaign."""
    clock: Clock = field(default_factory=SystemClock)
    """For waiting while the service starts; its sleep may raise to interrupt."""
    listener: Listener = no_listener
    proc: Path = PROC
    shared_memory: Path = SHARED_MEMORY
