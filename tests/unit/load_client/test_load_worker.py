"""A client process goes without a word when its owner does, whatever was being said."""

import socket
import struct
import subprocess
import sys

import pytest


@pytest.mark.parametrize("said", [b"", struct.pack("!i", 1000), struct.pack("!i", 1000) + b"half"])
def test_an_owner_that_is_killed_in_the_middle_of_a_word_leaves_no_traceback(said):
    ours, theirs = socket.socketpair()
    code = f"from autotune.load.client.worker import main; main({theirs.fileno()})"
    with (
        theirs,
        subprocess.Popen(
            [sys.executable, "-c", code], pass_fds=(theirs.fileno(),), stderr=subprocess.PIPE, text=True
        ) as worker,
    ):
        theirs.close()
        ours.sendall(said)
        ours.close()
        _, err = worker.communicate(timeout=30)
    assert (worker.returncode, err) == (0, "")
