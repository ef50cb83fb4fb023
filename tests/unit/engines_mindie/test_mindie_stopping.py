"""A stop that leaves something behind is told as such, with what to do."""

from types import SimpleNamespace

import pytest

from autotune.engines.mindie import stopping
from autotune.errors import NotRestored
from autotune.model.change import ProcessStarted
from autotune.process.ending import Ended
from autotune.process.identity import Identity, Stat

CHANGE = ProcessStarted(pid=7, create_time=1.0, boot_id="b", command="daemon")
CHILD = SimpleNamespace(pid=7, poll=lambda: None)
HANGING = Stat(
    identity=Identity(pid=8, create_time=1.0), name="mindie_llm_back", state="D", parent=1, group=7, session=1
)


class Journal:
    """Remembers what was settled, or cannot be written."""

    def __init__(self, error: OSError | None = None):
        self.settled: list[ProcessStarted] = []
        self.error = error

    def record(self, change):
        raise AssertionError(change)

    def settle(self, change):
        if self.error:
            raise self.error
        self.settled.append(change)


def stop(monkeypatch, journal, *, left=(), killed=(), forced=False):
    ended = Ended(returncode=-6, forced=forced, killed=killed, left=left, seconds=1.0)
    monkeypatch.setattr(stopping, "end", lambda *_arguments, **_options: ended)
    events = []
    stopping.stop(CHILD, None, CHANGE, journal=journal, listener=events.append)
    return events


def test_a_clean_stop_is_an_abort_and_says_nothing(monkeypatch):
    journal = Journal()
    assert stop(monkeypatch, journal) == []
    assert journal.settled == [CHANGE]


def test_what_hangs_in_the_kernel_needs_a_person_and_stays_in_the_journal(monkeypatch):
    journal = Journal()
    with pytest.raises(NotRestored, match=r"mindie_llm_back \(8\)"):
        stop(monkeypatch, journal, left=(HANGING,))
    assert journal.settled == []


def test_what_had_to_be_killed_is_told(monkeypatch):
    (event,) = stop(monkeypatch, Journal(), killed=(HANGING,))
    assert "mindie_llm_back (8)" in event.message


def test_a_journal_that_cannot_be_settled_is_told_with_the_command_that_does(monkeypatch):
    with pytest.raises(NotRestored, match="No space left") as error:
        stop(monkeypatch, Journal(OSError(28, "No space left on device")))
    assert "autotune recover" in error.value.hint
