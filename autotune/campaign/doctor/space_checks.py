"""Space: memory and disk that a campaign needs, and shared memory that an earlier service left."""

import os
from dataclasses import dataclass
from pathlib import Path

from autotune.campaign.doctor.check import Check, advice, error, fine
from autotune.engines.mindie.leftovers import PATTERNS, unused
from autotune.units import GiB, MiB

LEAST_DISK, GOOD_DISK = 200 * MiB, 2 * GiB
"""Logs of the service are capped at 64 MiB a launch; its kernels write into its working directory."""
LEAST_MEMORY = 2 * GiB
LEAST_FILES = 100
_SHOWN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Disk:
    """The file system below one folder, as its nearest folder that exists shows it."""

    purpose: str
    path: Path
    free_bytes: int
    free_files: int | None
    """None where the file system does not count them."""
    read_only: bool
    writable: bool
    """Whether this user may write it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SpaceFacts:
    """Memory, disks and leftovers."""

    disks: tuple[Disk, ...]
    available_bytes: int | None
    """MemAvailable; None where the kernel does not tell."""
    segments: tuple[Path, ...]
    """Shared memory with the names of MindIE's that nobody uses."""
    weights_bytes: int | None = None


def gather_space(
    places: tuple[tuple[str, Path], ...],
    *,
    shared_memory: Path,
    proc: Path = Path("/proc"),
    weights_bytes: int | None = None,
) -> SpaceFacts:
    """Look at each (purpose, folder) and at the memory."""
    return SpaceFacts(
        disks=tuple(_disk(purpose, path) for purpose, path in places),
        available_bytes=_available(proc),
        segments=unused(shared_memory, proc=proc),
        weights_bytes=weights_bytes,
    )


def _disk(purpose: str, path: Path) -> Disk:
    folder = path
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    status = os.statvfs(folder)
    return Disk(
        purpose=purpose,
        path=path,
        free_bytes=status.f_bavail * status.f_frsize,
        free_files=status.f_favail if status.f_files else None,
        read_only=bool(status.f_flag & os.ST_RDONLY),
        writable=os.access(folder, os.W_OK | os.X_OK),
    )


def _available(proc: Path) -> int | None:
    try:
        lines = (proc / "meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def space_checks(facts: SpaceFacts) -> tuple[Check, ...]:
    """Judge memory, shared memory and disks."""
    leftovers = (_leftovers(facts.segments),) if facts.segments else ()
    return (_memory(facts), *leftovers, _disks(facts.disks))


def _memory(facts: SpaceFacts) -> Check:
    available = facts.available_bytes
    if available is None:
        return advice("memory", "the kernel does not tell how much memory is free", "free -h")
    shown = f"{available / GiB:.1f} GiB available"
    if available < LEAST_MEMORY:
        return error("memory", f"only {shown}", "ps aux --sort=-rss | head   (and end what is not needed)")
    if facts.weights_bytes and available < facts.weights_bytes:
        fact = f"{shown}, the weights are {facts.weights_bytes / GiB:.1f} GiB: every start reads them anew"
        return advice("memory", fact, "ps aux --sort=-rss | head   (and end what is not needed)")
    return fine("memory", shown)


def _leftovers(segments: tuple[Path, ...]) -> Check:
    names = ", ".join(path.name for path in segments[:_SHOWN]) + (" ..." if segments[_SHOWN:] else "")
    folder = segments[0].parent
    listed = " ".join(f"{folder}/{pattern}" for pattern in PATTERNS)
    return advice(
        "shared memory",
        f"{len(segments)} segments that an earlier MindIE service left and nobody uses: {names}",
        f'for f in {listed}; do fuser -s "$f" || rm "$f"; done   (while no service starts)',
    )


def _disks(disks: tuple[Disk, ...]) -> Check:
    for disk in disks:
        if disk.read_only:
            mend = f"mount -o remount,rw {disk.path}, or choose another place in the profile"
            return error("disk", f"{disk.purpose} {disk.path} is on a read-only file system", mend)
        if not disk.writable:
            mend = f"sudo chown {os.geteuid()} {disk.path}, or choose another place in the profile"
            return error("disk", f"{disk.purpose} {disk.path} cannot be written by you", mend)
        if disk.free_bytes < LEAST_DISK or (
            disk.free_files is not None and disk.free_files < LEAST_FILES and disk.free_files >= 0
        ):
            return error(
                "disk",
                f"{disk.purpose} {disk.path} has {disk.free_bytes / MiB:.0f} MiB and "
                f"{_count(disk.free_files)} files free",
                f"du -xh {disk.path} | sort -h | tail   (and remove what is not needed)",
            )
    least = min(disks, key=lambda disk: disk.free_bytes)
    shown = f"{least.free_bytes / GiB:.1f} GiB free for {least.purpose} ({least.path})"
    if least.free_bytes < GOOD_DISK:
        mend = f"du -xh {least.path} | sort -h | tail   (and remove what is not needed)"
        return advice("disk", f"only {shown}", mend)
    return fine("disk", shown)


def _count(files: int | None) -> str:
    return "enough" if files is None else str(files)
