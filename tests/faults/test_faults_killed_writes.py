"""A configuration is put back wherever its editing or its restoring is cut, write for write."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("how", "fewest"), [("renamed", 20), ("in-place", 27)])
def test_before_every_single_write_to_the_disk(tmp_path, how, fewest):
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.killed_writes", str(tmp_path), how],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) >= fewest
