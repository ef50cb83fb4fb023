"""Links: the worker threads of MindIE's HTTP server, and the queue before them, as far as clients see them.

A connection holds a worker from its acceptance to its end; maxLinkNum of them work, twice as many wait
unread, and any further one is closed without an answer.
"""

from collections import deque
from typing import Final, Protocol

_QUEUE_FACTOR: Final = 2


class Link(Protocol):
    """A connection as the workers see it."""

    def serve(self) -> None:
        """A worker reads from it now."""


class Links:
    """Counts workers and queue."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._working: set[Link] = set()
        self._queue: deque[Link] = deque()

    @property
    def working(self) -> int:
        """Connections that hold a worker."""
        return len(self._working)

    @property
    def queued(self) -> int:
        """Connections that wait for one."""
        return len(self._queue)

    @property
    def queue_limit(self) -> int:
        """Most connections that wait."""
        return _QUEUE_FACTOR * self.limit

    def admit(self, link: Link) -> bool:
        """Give the connection a worker or a place in the queue; False when both are full."""
        if len(self._working) < self.limit:
            self._working.add(link)
            link.serve()
            return True
        if len(self._queue) >= self.queue_limit:
            return False
        self._queue.append(link)
        return True

    def release(self, link: Link) -> None:
        """The connection has ended: its worker takes the next of the queue."""
        if link not in self._working:
            if link in self._queue:
                self._queue.remove(link)
            return
        self._working.remove(link)
        if self._queue:
            following = self._queue.popleft()
            self._working.add(following)
            following.serve()
