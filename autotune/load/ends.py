"""Ends: until when a test runs, and how its steady speed is then read."""

from dataclasses import dataclass

from autotune.statistics.window import SteadyWindow

BUCKET_SECONDS = 0.5
"""Of the service's clock, while a steady window is read."""
_FINE_BUCKET_SECONDS = 0.05
"""For a fixed number of requests and short tests, where the plateau may be short."""
_BUCKETS_A_TEST = 60.0
_NEVER_SURE = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class UntilSure:
    """End when the half-width (a fraction) is reached, at the latest after cap_seconds of the service."""

    half_width: float
    cap_seconds: float
    stop_below: float | None = None
    alone: bool = False
    """No level of a sweep: read until the interval is as narrow as wanted, however wide that is."""

    @property
    def bucket_seconds(self) -> float:
        """Of the service's clock."""
        return BUCKET_SECONDS

    def window(self, bucket_seconds: float) -> SteadyWindow:
        """The window that decides."""
        return SteadyWindow(
            half_width=self.half_width,
            cap_seconds=self.cap_seconds,
            stop_below=self.stop_below,
            bucket_seconds=bucket_seconds,
            alone=self.alone,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ForSeconds:
    """End after so many seconds of the service's clock."""

    seconds: float

    @property
    def bucket_seconds(self) -> float:
        """Of the service's clock."""
        return min(BUCKET_SECONDS, max(_FINE_BUCKET_SECONDS, self.seconds / _BUCKETS_A_TEST))

    def window(self, bucket_seconds: float) -> SteadyWindow:
        """A window that only the time ends."""
        return SteadyWindow(half_width=_NEVER_SURE, cap_seconds=self.seconds, bucket_seconds=bucket_seconds)


@dataclass(frozen=True, kw_only=True, slots=True)
class ForRequests:
    """Send so many requests and wait for all of them."""

    count: int

    @property
    def bucket_seconds(self) -> float:
        """Of the service's clock."""
        return _FINE_BUCKET_SECONDS

    def window(self, bucket_seconds: float) -> None:
        """No window: the steady part is found afterwards, between ramp and drain."""
        del bucket_seconds


End = UntilSure | ForSeconds | ForRequests
