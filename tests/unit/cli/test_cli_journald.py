"""Levels in front of lines, only where the journal reads them."""

import io
import os

from autotune.cli.journald import ERROR, JournalLines, is_journal
from autotune.events import Warned


def test_every_line_has_its_level():
    stream = io.StringIO()
    lines = JournalLines(stream)
    lines(Warned(message="the live service is stopped", hint="it comes back"))
    lines.say("llama3: not restored", ERROR)
    assert stream.getvalue().splitlines() == [
        "<4>warning: the live service is stopped (it comes back)",
        "<3>llama3: not restored",
    ]


def test_only_the_stream_that_systemd_connected_counts(tmp_path):
    with (tmp_path / "log").open("w") as stream:
        found = os.fstat(stream.fileno())
        assert is_journal(stream, {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"})
        assert not is_journal(stream, {"JOURNAL_STREAM": "1:2"})
        assert not is_journal(stream, {})
    assert not is_journal(io.StringIO(), {"JOURNAL_STREAM": "1:2"})
