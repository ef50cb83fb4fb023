"""Window: how long the night still lasts; a catch-up timer may fire at noon."""

from datetime import datetime

_DAY = 24 * 60 * 60


def seconds_left(window: tuple[int, int] | None, now: datetime) -> float | None:
    """Seconds until the window closes, local time; None while it is closed.

    `window` is begin and end in minutes after midnight, and may cross midnight; None is always open.
    """
    if window is None:
        return float("inf")
    begin, end = (minutes * 60 for minutes in window)
    moment = now.hour * 3600 + now.minute * 60 + now.second + now.microsecond / 1e6
    length = (end - begin) % _DAY
    since = (moment - begin) % _DAY
    return length - since if since < length else None
