"""What a child prints is read once, shown safely, and never fills the disk."""

import os
import sys

from hypothesis import given
from hypothesis import strategies as st

from autotune.process.child import start
from autotune.process.output import CUT, OutputReader, plain, tail


def test_lines_come_once_and_whole(tmp_path):
    path = tmp_path / "out"
    reader = OutputReader(path)
    assert reader.new_lines() == ()
    path.write_text("one\ntw")
    assert reader.new_lines() == ("one",)
    with path.open("a") as file:
        file.write("o\nthree\n")
    assert reader.new_lines() == ("two", "three")
    assert reader.new_lines() == ()


def test_a_log_that_was_truncated_is_read_from_its_new_start(tmp_path):
    path = tmp_path / "out"
    path.write_text("a long first line\n")
    reader = OutputReader(path)
    reader.new_lines()
    path.write_text("new\n")
    assert reader.new_lines() == ("new",)


def test_colours_and_control_characters_are_removed():
    assert plain("\x1b[31;1mERROR\x1b[0m \x07out\x00 of \x1b]0;title\x07memory\r") == "ERROR out of memory"


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text):
    assert not any(ord(character) < 32 and character not in "\t\n" for character in plain(text))


def test_a_line_without_end_is_cut(tmp_path):
    path = tmp_path / "out"
    path.write_text("x" * 100_000 + "\n")
    assert [len(line) for line in OutputReader(path).new_lines()] == [4000]


def test_a_file_that_grew_too_much_keeps_its_beginning_and_its_end(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"start\n" + b"." * 10_000 + b"\nend\n")
    reader = OutputReader(path, cap_bytes=1000, keep_bytes=100)
    assert reader.cap()
    data = path.read_bytes()
    assert len(data) == 200 + len(CUT)
    assert data.startswith(b"start\n")
    assert data.endswith(b"\nend\n")
    assert not reader.cap()


def test_a_child_goes_on_writing_at_the_end_of_a_cut_file(tmp_path):
    path, go = tmp_path / "out", tmp_path / "go"
    os.mkfifo(go)
    script = "print('y' * 5000, flush=True); open('go').read(); print('last')"
    child = start([sys.executable, "-c", script], env={}, cwd=tmp_path, output=path)
    with go.open("w"):  # opens when the child has printed its first line and waits
        OutputReader(path, cap_bytes=1000, keep_bytes=300).cap()
    assert child.wait(20) == 0
    assert path.stat().st_size == 600 + len(CUT) + len("last\n")
    assert tail(path, lines=1) == ("last",)


def test_the_tail_of_a_missing_file_is_empty(tmp_path):
    assert tail(tmp_path / "none") == ()


def test_after_a_long_silence_only_the_newest_part_is_read(tmp_path):
    path = tmp_path / "out"
    path.write_text("old\n" * 1000 + "new\n")
    assert OutputReader(path, cap_bytes=40).new_lines()[-1] == "new"
