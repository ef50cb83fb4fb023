"""Stopping: SIGTERM to the server itself, grace for it, then whatever is left by identity."""

import signal

from autotune.errors import NotRestored
from autotune.events import Warned
from autotune.model.change import ProcessStarted
from autotune.model.protocols import Journal, Listener
from autotune.process.child import Child
from autotune.process.clock import SystemClock
from autotune.process.ending import POLL_SECONDS, end, send
from autotune.process.identity import Identity
from autotune.process.tree import Tree, names

_ROOT_GRACE_SECONDS = 2.0
"""For a shell around the server, which ends by itself when the server does."""


def stop(
    child: Child,
    tree: Tree,
    change: ProcessStarted,
    server: Identity | None,
    *,
    grace: float,
    journal: Journal,
    listener: Listener,
) -> None:
    """End the server and its tree; `server` is the process that listens, where it is not the root.

    Signalling a shell around it would leave the server without its chance to stop its workers. It waits on a
    clock of its own: a campaign's clock may raise to interrupt, which must not happen here.
    Raises NotRestored when something of the tree can't be ended.
    """
    running = child.poll() is None
    around = running and server is not None and server != tree.root
    if around and server is not None:
        _end_server(child, server, grace)
    ended = end(tree, grace=_ROOT_GRACE_SECONDS if around else grace, clock=SystemClock(), child=child)
    if running and ended.forced:
        listener(Warned(message=f"the server (pid {child.pid}) ignored SIGTERM for {grace:.0f} s"))
    if ended.killed:
        listener(Warned(message=f"processes outlived the server and were killed: {names(ended.killed)}"))
    if ended.left:
        raise NotRestored(
            f"processes of the trial server cannot be ended: {names(ended.left)}",
            hint="they hang in the kernel; look at the NPU driver (npu-smi info) before the next start",
        )
    journal.settle(change)


def _end_server(child: Child, server: Identity, grace: float) -> None:
    """Give the server its grace; the shell around it ends when it does."""
    clock = SystemClock()
    deadline = clock.now() + grace
    if not send(server, signal.SIGTERM):
        return
    while child.poll() is None and clock.now() < deadline:
        clock.sleep(POLL_SECONDS)
