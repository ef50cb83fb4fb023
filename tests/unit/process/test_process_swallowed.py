"""A Ctrl-C that Python drops while it finalises an object is told again, outside of it."""

import os
import signal
import sys
import time

import pytest

from autotune.process.swallowed import told_again


class Finalised:
    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


class Faulty:
    def __del__(self) -> None:
        raise ValueError("in a finaliser")


def test_a_dropped_interrupt_is_raised_a_moment_later():
    def work() -> None:
        Finalised()
        time.sleep(10)

    began = time.monotonic()
    with told_again(), pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - began < 5


def test_after_the_end_nothing_comes():
    before = sys.unraisablehook
    with told_again():
        Finalised()
    assert sys.unraisablehook is before
    time.sleep(0.2)  # an interrupt would end the test


def test_another_error_of_a_finaliser_is_told_as_before(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: told.append(dropped.exc_type))
    with told_again():
        Faulty()
    assert told == [ValueError]


def test_what_is_sent_again_can_be_chosen():
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    try:
        with told_again(lambda: signal.SIGUSR1):
            Finalised()
            deadline = time.monotonic() + 5
            while not heard and time.monotonic() < deadline:
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [signal.SIGUSR1]
