"""Guided: a process in which atheris leads; `python -m tests.fuzz.guided MODULE CHECK SECONDS ...`."""

import os
import signal
import sys
import time
from importlib import import_module
from types import FrameType

import atheris

LONGEST_SECONDS = 20.0
"""CPU that one input may take."""


class TookTooLong(Exception):
    """One input held the parser for longer than any real file may."""


def main() -> None:
    """Instrument the package while the target's module is imported, then hand over for good."""
    module, name, seconds = sys.argv.pop(1), sys.argv.pop(1), float(sys.argv.pop(1))
    with atheris.instrument_imports(include=["autotune", "tests.fuzz"]):
        found = import_module(module)
    check = getattr(found, name)
    first = time.process_time()
    started = [first]

    def one(data: bytes) -> None:
        started[0] = time.process_time()
        if started[0] - first > seconds:
            _tell(started[0] - first)
            os.kill(os.getpid(), signal.SIGUSR1)  # the end that libFuzzer knows: it prints its counts
            return
        try:
            check(data)
        except BaseException:
            _tell(time.process_time() - first)
            raise

    def watch(_signal: int, _frame: FrameType | None) -> None:
        if time.process_time() - started[0] > LONGEST_SECONDS:
            raise TookTooLong

    signal.signal(signal.SIGPROF, watch)
    signal.setitimer(signal.ITIMER_PROF, 1.0, 1.0)
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


def _tell(seconds: float) -> None:
    print(f"CPU seconds: {seconds:.1f}", flush=True)


if __name__ == "__main__":
    main()
