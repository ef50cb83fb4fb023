"""Subreaper: orphans of what this process starts come back to it instead of to init."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Adopt every orphaned descendant within the block, also double-forked ones.

    Only while a trial runs: what a user's own start command leaves behind is to go to init.
    Where the kernel refuses, nothing changes.
    """
    libc = ctypes.CDLL(None)
    before = ctypes.c_int(0)
    libc.prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)
