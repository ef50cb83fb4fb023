"""What an engine calls where nobody waits to be called."""

from collections.abc import Collection

from autotune.events import Event


def no_listener(_event: Event) -> None:
    """Take an event and leave it."""


def no_gate() -> None:
    """Let every start begin at once."""


def no_watch(_pids: Collection[int]) -> None:
    """See the processes and leave them."""
