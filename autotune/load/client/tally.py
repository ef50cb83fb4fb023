"""Tally: all that one process saw of a load test, as a value that can be added up and sent."""

from dataclasses import dataclass, field

from autotune.load.client.gaps import GapSlice
from autotune.load.client.recorder import Bucket, Columns


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientHealth:
    """How the client itself fared. Seconds of the host's clock."""

    cpu_seconds: float
    elapsed: float
    lag_p90: float
    """How late the event loop came to its own appointments."""
    lag_max: float
    send_delay_mean: float = 0.0
    """From when a request was due to when its bytes were written."""
    processes: int = 1
    busiest_share: float | None = None
    """Of several processes the share of the busiest one."""

    @property
    def cpu_share(self) -> float:
        """Busy share of one core; of several processes that of the busiest."""
        if self.busiest_share is not None:
            return self.busiest_share
        return self.cpu_seconds / self.elapsed if self.elapsed > 0 else 0.0


@dataclass(kw_only=True, slots=True)
class Tally:
    """Everything of one test. Times of the host's clock, from the same origin in all processes."""

    started: float
    ended: float
    buckets: list[Bucket]
    columns: Columns
    gaps: list[GapSlice]
    health: ClientHealth
    failed: dict[str, int] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    events: int = 0
    peak_in_flight: int = 0
