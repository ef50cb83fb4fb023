"""A wish to stop takes effect only where it is safe, once."""

import os
import signal
import sys
import time

import pytest

from autotune.campaign.interruption import InterruptibleClock


def wish(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


@pytest.fixture
def interruptible(clock) -> InterruptibleClock:
    return InterruptibleClock(clock)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_outside_waits_for_the_next_sleep(interruptible, number):
    with interruptible.stopping_on_signals():
        wish(number)
        assert interruptible.stop_wanted
        with pytest.raises(KeyboardInterrupt):
            interruptible.sleep(1)


def test_a_signal_inside_an_interruptible_part_acts_at_once(interruptible):
    reached = []

    def load() -> None:
        with interruptible.interruptible():
            wish()
            reached.append("the signal came too late")

    with interruptible.stopping_on_signals(), pytest.raises(KeyboardInterrupt):
        load()
    assert not reached


class Finalised:
    """An object that a signal meets while Python takes it away."""

    def __del__(self) -> None:
        wish(signal.SIGHUP)


def test_a_signal_that_python_swallows_with_a_finalised_object_is_told_again(interruptible):
    swallowed = []

    def load() -> None:
        with interruptible.interruptible():
            Finalised()
            swallowed.append("the finaliser kept it")
            time.sleep(10)

    before = sys.unraisablehook
    began = time.monotonic()
    with interruptible.stopping_on_signals(), pytest.raises(KeyboardInterrupt):
        load()
    assert swallowed
    assert time.monotonic() - began < 5
    assert sys.unraisablehook is before


def test_a_swallowed_signal_does_not_come_after_the_end(interruptible):
    with interruptible.stopping_on_signals(), interruptible.interruptible():
        Finalised()
    time.sleep(0.2)  # the signal's own action would end this process now
    assert interruptible.stop_wanted


def test_the_second_sleep_lets_things_be_put_back(interruptible, clock):
    with interruptible.stopping_on_signals():
        wish()
        with pytest.raises(KeyboardInterrupt):
            interruptible.sleep(1)
        interruptible.sleep(3)
        wish()
        interruptible.sleep(3)
    assert clock.now() == 6


def test_the_handlers_of_before_come_back(interruptible):
    before = signal.getsignal(signal.SIGINT)
    with interruptible.stopping_on_signals():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_a_lost_terminal_is_no_end_where_nohup_switched_that_off(interruptible):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible.stopping_on_signals():
            wish(signal.SIGHUP)
            assert not interruptible.stop_wanted
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
