"""Ends: until when a test runs, and how its steady speed is then read."""

from dataclasses import dataclass

from autotune.load.measuring import thorough
from autotune.statistics.window import SteadyWindow, WindowStatus

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
    thorough: bool = False
    """Read by the rule of final levels, however wide the wanted interval is; see measuring/thorough."""

    @property
    def bucket_seconds(self) -> float:
        """Of the service's clock."""
        return BUCKET_SECONDS

    def window(self, bucket_seconds: float) -> SteadyWindow:
        """The window that decides."""
        wanted = thorough.window_half_width(self.half_width) if self.thorough else self.half_width
        return SteadyWindow(
            half_width=wanted,
            cap_seconds=self.cap_seconds,
            stop_below=self.stop_below,
            bucket_seconds=bucket_seconds,
        )

    @property
    def sure_at(self) -> float | None:
        """Half-width that ends the test when it was seen twice, if the window alone does not decide."""
        return thorough.sure_at(self.half_width) if self.thorough else None

    def stated(self, status: WindowStatus) -> float | None:
        """The half-width to state, a fraction."""
        return thorough.stated(self.half_width, status.half_width) if self.thorough else status.half_width

    def capped(self, status: WindowStatus) -> bool:
        """Whether the time ran out first."""
        if not self.thorough:
            return status.capped
        return status.capped and thorough.capped(self.half_width, status.half_width)


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

    def stated(self, status: WindowStatus) -> float | None:
        """What the window computed: nothing was stopped for it."""
        return status.half_width


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

    def stated(self, status: WindowStatus) -> float | None:
        """What the window computed."""
        return status.half_width


End = UntilSure | ForSeconds | ForRequests
