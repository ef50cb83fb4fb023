"""`autotune host measure` on an emulated install: one launch with the host settings, one without."""

import json
import os
from pathlib import Path

import pytest

HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.slow
def test_the_same_launch_is_measured_with_and_without_and_the_host_is_as_it_was(make_job):
    job = make_job(mode="private")
    before, pages = job.fingerprint(), HUGE_PAGES.read_text() if HUGE_PAGES.exists() else ""
    cpu = max(os.sched_getaffinity(0))
    options = [f"host.cpus={cpu}", "host.transparent_hugepages=always", "measuring.level_cap=40s"]
    done = job.run(
        "host",
        "measure",
        str(job.profile),
        "--yes",
        "--pairs=1",
        "--json",
        *[f"--set={value}" for value in options],
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [launch["with_settings"] for launch in document["launches"]] == [True, False]
    assert document["gain_low"] < document["gain"] < document["gain_high"]
    assert document["emulated"]
    assert f"on CPUs {cpu}, read back" in document["settings"]["service bound"]
    assert (HUGE_PAGES.read_text() if HUGE_PAGES.exists() else "") == pages
    job.nothing_left(before)
