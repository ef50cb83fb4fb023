"""A wish to stop ends a running test at once and leaves nothing behind."""

import gc
import os
import signal
import threading

import pytest

from autotune.load.ends import ForSeconds
from autotune.load.load_test import run_load_test


@pytest.mark.parametrize("delay", [0.05, 0.4, 0.77, 1.3])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_test_at_once(delay, number, mock, make_test):
    def stop(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(number, stop)
    threads = threading.active_count()
    try:
        with mock("--first-ms", "5", "--step-ms", "2") as server:
            timer = threading.Timer(delay, os.kill, (os.getpid(), number))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                run_load_test(make_test(server, end=ForSeconds(seconds=30.0)))
            timer.join()
    finally:
        signal.signal(number, before)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    assert threading.active_count() == threads


@pytest.mark.slow
def test_a_signal_also_ends_several_processes(mock, make_test):
    def stop(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        with mock("--first-ms", "5", "--step-ms", "2") as server:
            timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                run_load_test(make_test(server, end=ForSeconds(seconds=30.0), workers=2))
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
