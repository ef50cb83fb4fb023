"""ProgressLine: shows where a test stands from a thread of its own; a slow terminal delays no stream."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

    from autotune.statistics.window import WindowStatus

_REPAINT_SECONDS = 0.5


class ProgressLine:
    """A context around a test; `tell` only notes, the thread writes the newest note twice a second."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._newest: tuple[float, WindowStatus | None] | None = None
        self._quit = threading.Event()
        self._thread = threading.Thread(target=self._paint_until_quit, name="progress line", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._quit.set()
        self._thread.join(_REPAINT_SECONDS)
        self._show("")

    def tell(self, seconds: float, status: WindowStatus | None) -> None:
        """Seconds of the service's clock since the start, and where the window stands."""
        self._newest = (seconds, status)

    def _paint_until_quit(self) -> None:
        while not self._quit.wait(_REPAINT_SECONDS):
            if self._newest is not None:
                self._show(_words(*self._newest))


def _words(seconds: float, status: WindowStatus | None) -> str:
    speed, width, left = "", "", ""
    if status is not None and status.tokens_per_second is not None:
        speed = f", {status.tokens_per_second:.1f} token/s"
        width = f" +- {100 * status.half_width:.2f} %" if status.half_width is not None else ""
    if status is not None and status.seconds_left is not None:
        left = f", about {status.seconds_left:.0f} s left"
    return f"{seconds:.0f} s{speed}{width}{left}"
