"""Options of the vLLM engine: what starts the server, where trials listen, and what they are given."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autotune.engines.tls import Tls
from autotune.engines.unheard import no_gate, no_listener, no_watch
from autotune.model.protocols import Clock, Journal, Listener
from autotune.process.clock import SystemClock
from autotune.process.identity import PROC

GRACE_SECONDS = 15.0
"""How long the server may take to end after SIGTERM; idle it takes half a second, with clients that hang
until they give up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VllmOptions:
    """Everything that a VllmEngine is told; `command` or `script`, one of the two."""

    work_dir: Path
    """Copies of the script, working directories of the server, its output; made when missing."""
    journal: Journal
    environment: Mapping[str, str]
    """All that the server sees."""
    command: tuple[str, ...] = ()
    """Words that start the server; no shell reads them."""
    script: Path | None = None
    """A run_vllm.sh; trials run a copy of it."""
    keep_address: bool = False
    """Listen where the command says; else on a free port of the loopback interface."""
    start_timeout: float = 900.0
    """Seconds of the host's clock until the first real answer, graph compilation included."""
    model_name: str | None = None
    """Override of the served model's name, in requests only."""
    cpus: frozenset[int] | None = None
    """CPUs of the server; None leaves them alone."""
    prefix: tuple[str, ...] = ()
    """Words before the server's command, such as those of numactl; they must become the server by exec."""
    processes_seen: Callable[[Collection[int]], None] = no_watch
    """Given the pids of the server and all that descend from it, once it is ready and again under load."""
    tls: Tls | None = None
    live_service: bool = False
    """A server that runs now is known, and the caller stops it before the first launch."""
    before_start: Callable[[], None] = no_gate
    """Called before each start; waits until the NPU memory is back. What it raises when it is not ends it:
    LaunchFailed this launch, Refused the campaign."""
    grace: float = GRACE_SECONDS
    clock: Clock = field(default_factory=SystemClock)
    """For waiting while the server starts; its sleep may raise to interrupt."""
    listener: Listener = no_listener
    proc: Path = PROC
