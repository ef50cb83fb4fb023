"""Stopping: end the daemon as it wants to be ended, and make sure that nothing of it is left."""

from autotune.errors import NotRestored
from autotune.events import Warned
from autotune.model.change import ProcessStarted
from autotune.model.protocols import Journal, Listener
from autotune.process.child import Child
from autotune.process.clock import SystemClock
from autotune.process.ending import end
from autotune.process.tree import Tree, names

GRACE_SECONDS = 30.0
"""The daemon sleeps 5 s after SIGTERM, gives its children 15 s, and ends with SIGABRT."""


def stop(child: Child, tree: Tree, change: ProcessStarted, *, journal: Journal, listener: Listener) -> None:
    """End the daemon and its tree; the exit code says nothing, since a clean stop is an abort.

    It waits on a clock of its own: a campaign's clock may raise to interrupt, which must not happen here.
    Raises NotRestored when something of the tree cannot be ended.
    """
    running = child.poll() is None
    ended = end(tree, grace=GRACE_SECONDS, clock=SystemClock(), child=child)
    if running and ended.forced:
        listener(Warned(message=f"the daemon (pid {child.pid}) ignored SIGTERM for {GRACE_SECONDS:.0f} s"))
    if ended.killed:
        listener(Warned(message=f"processes outlived the daemon and were killed: {names(ended.killed)}"))
    if ended.left:
        raise NotRestored(
            f"processes of the trial service cannot be ended: {names(ended.left)}",
            hint="they hang in the kernel; look at the NPU driver (npu-smi info) before the next start",
        )
    try:
        journal.settle(change)
    except OSError as error:
        raise NotRestored(
            f"the trial service has ended, but the crash journal cannot be written: {error}",
            hint="free some space, then: autotune recover",
        ) from error
