"""Change: one thing that a campaign alters on a host, with what is needed to put it back."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChanged:
    """A file replaced by another text; the backup holds the first one, byte for byte."""

    path: str
    backup: str
    before_sha256: str
    after_sha256: str
    mode: int
    uid: int
    gid: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessStarted:
    """A process that this tool started, named so that no other can be meant."""

    pid: int
    create_time: float
    """Seconds since boot, as the kernel tells it for this pid; steps of the clock do not move it."""
    boot_id: str
    command: str
    """For the message only."""
    shared_memory: str = ""
    """Directory of the segments that it may leave behind; empty where it makes none."""
    segments_before: tuple[str, ...] = ()
    """Those that were there before it, each as `<inode> <name>`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SysfsWritten:
    """A kernel setting written through sysfs; lost at reboot, so bound to a boot."""

    path: str
    before: str
    after: str
    boot_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitStopped:
    """A systemd service of the host, such as irqbalance, stopped for the time of the trials."""

    unit: str
    boot_id: str


HostChange = SysfsWritten | UnitStopped
"""What host settings change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServedModel:
    """A vLLM server, as a client on the same host asks it; its words are in its command, not in a file."""

    scheme: str
    host: str
    port: int
    interface: str
    model_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceStopped:
    """The production service, stopped for the time of the trials; whoever recovers starts it again."""

    start: tuple[str, ...]
    """Command as a list of words."""
    after: tuple[str, ...] = ()
    """Hook that brings traffic back, once it answers."""
    active: tuple[str, ...] = ()
    """Command that ends with 0 while the service runs."""
    config_path: str
    """Its configuration, which says where it listens; the script or program of a vLLM server."""
    served: ServedModel | None = None
    """Where a vLLM server answers; None for MindIE."""
    environment: str = ""
    """File with the environment of these commands (`env -0`); empty is the caller's own."""
    unit: str = ""
    """The systemd unit, where the service is one."""
    mark: str = ""
    """Value of a variable that its commands get, by which one that was begun is known again."""
    stopping: bool = False
    """Its stop was begun and had not ended: it may answer now and be gone in a moment."""
    answer_seconds: float = 900.0
    """How long it may take until it answers."""
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    tls_password_file: str = ""


Change = FileChanged | ProcessStarted | SysfsWritten | UnitStopped | ServiceStopped
