"""A user's own command is run to its end, and what it leaves running stays."""

import os
import resource
import sys
import time
from pathlib import Path

import pytest

from autotune.errors import LaunchCause, LaunchFailed
from autotune.process.child import MARKER
from autotune.process.clock import SystemClock
from autotune.process.command import begin, run
from autotune.process.ending import end
from autotune.process.identity import identity_of
from autotune.process.tree import Tree

SORRY = "print('sorry'); raise SystemExit(3)"
ENV = {"PATH": os.environ["PATH"]}


def test_a_command_that_succeeds_is_quiet(tmp_path):
    run(["true"], env=ENV, output=tmp_path / "out", seconds=20)


def test_a_failure_names_the_command_its_code_and_its_last_words(tmp_path):
    with pytest.raises(LaunchFailed, match="ended with 3: sorry") as failure:
        run([sys.executable, "-c", SORRY], env=ENV, output=tmp_path / "out", seconds=20)
    assert failure.value.lines == ("sorry",)


def test_no_shell_reads_the_arguments(tmp_path):
    run(["echo", "$HOME; rm -rf x"], env=ENV, output=tmp_path / "out", seconds=20)
    assert (tmp_path / "out").read_text() == "$HOME; rm -rf x\n"


def test_a_command_that_does_not_exist(tmp_path):
    with pytest.raises(LaunchFailed, match="no command no-such"):
        run(["no-such"], env=ENV, output=tmp_path / "out", seconds=20)


def test_a_command_that_hangs_is_ended(tmp_path):
    began = time.monotonic()
    with pytest.raises(LaunchFailed, match="longer than") as failure:
        run(["sleep", "60"], env=ENV, output=tmp_path / "out", seconds=0.3)
    assert failure.value.cause is LaunchCause.TIMEOUT
    assert time.monotonic() - began < 10


def test_what_a_command_leaves_running_stays_and_is_not_marked_as_ours(tmp_path):
    script = (
        "import subprocess; print(subprocess.Popen(['sleep', '60'], stdin=subprocess.DEVNULL,"
        " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"
    )
    run([sys.executable, "-c", script], env=ENV, output=tmp_path / "out", seconds=20)
    identity = identity_of(int((tmp_path / "out").read_text()))
    assert identity is not None
    process = Path(f"/proc/{identity.pid}")
    assert MARKER.encode() not in (process / "environ").read_bytes()
    limits = (process / "limits").read_text()
    soft, _ = resource.getrlimit(resource.RLIMIT_CORE)
    assert soft == 0 or "Max core file size         0" not in limits
    end(Tree(identity), grace=5, clock=SystemClock())


def test_a_command_may_stay_in_the_foreground(tmp_path):
    child = begin(["sleep", "60"], env=ENV, output=tmp_path / "out")
    assert child.poll() is None
    end(Tree(child.identity), grace=5, clock=SystemClock(), child=child)
