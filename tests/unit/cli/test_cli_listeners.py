"""A terminal that is gone is no reason for a campaign to end."""

import io

from autotune.cli.listeners import PlainLines, Steady
from autotune.events import Warned

EVENT = Warned(message="the live service answers again")


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_pipe_without_a_reader_ends_the_screen_and_nothing_else():
    listener = Steady(PlainLines(Gone()))
    for _ in range(2):
        listener(EVENT)
    listener.close()


def test_a_closed_stream_is_the_same():
    stream = io.StringIO()
    listener = Steady(PlainLines(stream))
    stream.close()
    listener(EVENT)


def test_what_can_be_written_is_written():
    stream = io.StringIO()
    Steady(PlainLines(stream))(EVENT)
    assert stream.getvalue() == "warning: the live service answers again\n"
