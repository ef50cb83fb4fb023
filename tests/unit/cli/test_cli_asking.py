"""The one question: yes begins, everything else ends with nothing touched, and nobody is no yes."""

import io

import pytest

from autotune.cli import asking
from autotune.errors import Interrupted, UsageError


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_yes_begins(monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    asking.ask()


@pytest.mark.parametrize("typed", ["n\n", "\n", "what?\nno\n", ""])
def test_anything_else_touches_nothing_and_says_so(monkeypatch, typed):
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    with pytest.raises(Interrupted, match="nothing was touched"):
        asking.ask()


def test_where_nobody_can_be_asked_the_option_is_named(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(UsageError) as error:
        asking.ask()
    assert error.value.hint == "add --yes"
