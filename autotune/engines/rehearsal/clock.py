"""VirtualClock: time that passes only when somebody lets it pass."""


class VirtualClock:
    """A `Clock` whose seconds cost nothing."""

    def __init__(self, *, wall: float = 0.0) -> None:
        self._wall_at_start = wall
        self._now = 0.0

    def now(self) -> float:
        """Virtual seconds since the clock was made."""
        return self._now

    def wall(self) -> float:
        """The wall time it was made with, plus what has passed since."""
        return self._wall_at_start + self._now

    def sleep(self, seconds: float) -> None:
        """Let virtual time pass. Raises ValueError for a negative time."""
        if seconds < 0:
            raise ValueError("time does not go back")
        self._now += seconds
