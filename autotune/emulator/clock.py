"""The service's own clock: host time since a start, `time_scale` times faster."""

import time
from collections.abc import Callable


class ServiceClock:
    """Turns host seconds into the service's own seconds and back; starts at 0 when it is made."""

    __slots__ = ("_monotonic", "_origin", "scale")

    def __init__(self, scale: float = 1.0, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.scale = scale
        self._monotonic = monotonic
        self._origin = monotonic()

    def now(self) -> float:
        """Seconds of the service's own clock since its start."""
        return (self._monotonic() - self._origin) * self.scale

    def host_time(self, moment: float) -> float:
        """The host's monotonic time of a moment of the service's clock."""
        return self._origin + moment / self.scale

    def host_seconds(self, seconds: float) -> float:
        """How many seconds of the host a duration of the service takes."""
        return seconds / self.scale
