"""Faults that an emulated service can be told to have, when it is made or while it runs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from autotune.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class Faults:
    """What goes wrong; everything is off by default. Durations are seconds of the service's own clock."""

    start_failure: str = ""
    """How a start fails: model, hccl, permission, exit; empty for a start that works."""
    start_hang: bool = False
    """The model never gets loaded."""
    slow_start: float = 1.0
    """Factor on the time that loading takes."""
    out_of_memory_at: int | None = None
    """maxBatchSize at or above which a start runs out of memory."""
    warm_up_out_of_memory_at: int | None = None
    """maxPrefillTokens at or above which the warm-up runs out of memory."""
    crash_after_requests: int | None = None
    """A rank dies when this many requests have been taken, and takes the service down."""
    out_of_memory_after_requests: int | None = None
    """The NPU runs out of memory under load, with the vendor's lines, and the service goes down."""
    stall_after_requests: int | None = None
    """No token comes any more once this many requests have been taken."""
    stall_seconds: float | None = None
    """How long that lasts; None for ever."""
    error_rate: float = 0.0
    """Share of the requests that are answered with `error_status`."""
    error_status: int = 500
    truncate_rate: float = 0.0
    """Share of the streams that end half-way, without their end."""
    short_rate: float = 0.0
    """Share of the replies that stop at half of their tokens and claim an end of sequence."""
    launch_noise: float = 0.0
    """Standard deviation of a factor on all step times that each launch draws anew."""
    drift_per_hour: float = 0.0
    """Share by which steps get slower in an hour."""
    cold_first_launch: float = 1.0
    """Factor on the step times of the first launch of the install."""
    outlier_rate: float = 0.0
    """Share of the steps that take `outlier_seconds` more."""
    outlier_seconds: float = 1.0
    blocks_spread: float = 0.0
    """Largest share by which the blocks of a launch fall below the install's number."""
    foreign_requests_per_second: float = 0.0
    """Requests of somebody else, 186 tokens in and 346 out."""
    not_found: bool = False
    """Every inference is answered with 404, though the service says that it started and is healthy."""
    served_max_batch_size: int | None = None
    """The maxBatchSize that /info claims, whatever the configuration says."""
    orphans: bool = False
    """The children outlive a daemon that is killed."""
    deaf: bool = False
    """SIGTERM does nothing."""

    def as_dict(self) -> dict[str, Any]:
        """All values, for the marker file."""
        return asdict(self)


START_FAILURES = ("", "model", "hccl", "permission", "exit")


def read_faults(values: Mapping[str, Any]) -> Faults:
    """Faults from a JSON object. Raises UsageError for an unknown name or a value of a wrong type."""
    known = {field.name for field in fields(Faults)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise UsageError(f"unknown fault: {', '.join(unknown)}", hint=f"known are {', '.join(sorted(known))}")
    checked: dict[str, Any] = {name: _checked(name, value) for name, value in values.items()}
    faults = Faults(**checked)
    if faults.start_failure not in START_FAILURES:
        raise UsageError(f"start_failure is none of {', '.join(START_FAILURES[1:])}: {faults.start_failure}")
    return faults


def _checked(name: str, value: object) -> object:
    default = getattr(Faults(), name)
    wanted = {"start_failure": str, "error_status": int}.get(name, type(default))
    if wanted in (bool, str):
        right = isinstance(value, wanted)
    else:
        right = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    if not right or (value is None and default is not None):
        raise UsageError(f"fault {name} cannot be {value!r}")
    return value
