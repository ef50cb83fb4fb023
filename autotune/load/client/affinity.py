"""Affinity: the client kept off the CPUs of the service while a test runs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from autotune.errors import UsageError


@contextmanager
def on_cpus(cpus: tuple[int, ...]) -> Iterator[None]:
    """Run on these CPUs only, and on the former ones afterwards; an empty tuple changes nothing.

    Raises UsageError when this process may not use them.
    """
    if not cpus:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus)
    except OSError as error:
        raise UsageError(
            f"CPUs {sorted(cpus)} can't be used: {error}", hint=f"usable: {sorted(before)}"
        ) from error
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
