"""An interrupt that comes at a bad moment comes later, and is never lost."""

import os
import signal
import threading

import pytest

from autotune.errors import NotRestored
from autotune.process.held_back import held_back


@pytest.fixture(autouse=True)
def _interrupts_are_heard():
    """A shell starts what runs in its background with interrupts ignored, and Python then leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_for_the_end_of_the_block():
    done = []
    with pytest.raises(KeyboardInterrupt), held_back():  # noqa: PT012 - the order is the point
        os.kill(os.getpid(), signal.SIGINT)
        done.append("restored")
    assert done == ["restored"]


def test_several_interrupts_become_one():
    with pytest.raises(KeyboardInterrupt), held_back():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)


def test_handlers_are_as_before():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with held_back():
        pass
    assert before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def test_sigterm_reaches_its_own_handler_afterwards():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    try:
        with held_back():
            os.kill(os.getpid(), signal.SIGTERM)
            assert heard == []
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_could_not_be_restored_outranks_the_interrupt():
    with pytest.raises(NotRestored), held_back():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        raise NotRestored("config.json was changed by somebody else")


def test_it_nests():
    done = []
    with pytest.raises(KeyboardInterrupt), held_back():  # noqa: PT012
        with held_back():
            os.kill(os.getpid(), signal.SIGINT)
        done.append("outer goes on")
    assert done == ["outer goes on"]


def test_other_threads_have_nothing_to_hold():
    seen = []

    def work():
        with held_back():
            seen.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]
