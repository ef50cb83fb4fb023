"""ServiceFacts: the service of a profile as the doctor sees it, whatever its engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autotune.campaign.doctor.check import Check


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceFacts:
    """What of the service is needed beyond its own checks; what could not be read is None or empty."""

    checks: tuple[Check, ...]
    """Of the install, the configuration, the permissions and the certificates."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the service would be started with."""
    ports: tuple[int, ...] = ()
    """Ports of its own configuration."""
    max_batch_size: int | None = None
    max_link_num: int | None = None
    version: str = ""
    weights: Path | None = None
    devices: tuple[int, ...] = ()
    on_npu: bool = True
    emulated: bool = False
    lock_place: str = ""
    """What the service's lock is named after; empty when it is not known."""
    edited_folder: Path | None = None
    """Folder of a file that a campaign would edit in place."""
