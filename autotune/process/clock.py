"""The host's own clock, for everything that runs in real time."""

import time
from typing import final


@final
class SystemClock:
    """Real time; a `Clock` for campaigns that touch a host."""

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Block for that long; not at all for 0 or less."""
        if seconds > 0:
            time.sleep(seconds)
