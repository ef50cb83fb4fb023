"""Why a server ended: its lines first, then what the kernel and the signal tell."""

from itertools import count

import pytest

from autotune.engines.vllm.log_watch import LogWatch
from autotune.errors import LaunchCause

DEAD_ENGINE = (
    "EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n"
)


def watch_of(tmp_path, text, kills=lambda: 0):
    path = tmp_path / "output.log"
    path.write_text(text)
    return LogWatch(path, kills=kills)


@pytest.mark.parametrize("started", [True, False])
def test_a_worker_that_the_kernel_killed_for_memory_is_a_failure_of_memory(tmp_path, started):
    failure = watch_of(tmp_path, DEAD_ENGINE, count().__next__).failure(
        "signal 9", started=started, otherwise=LaunchCause.CRASHED
    )
    assert failure.cause is LaunchCause.MEMORY
    assert "oom_kill" in failure.lines[0]


@pytest.mark.parametrize("kills", [lambda: 3, lambda: None], ids=["none more", "not told"])
def test_without_such_a_kill_it_is_a_dead_engine(tmp_path, kills):
    failure = watch_of(tmp_path, DEAD_ENGINE, kills).failure(
        "exit code 0", started=True, otherwise=LaunchCause.CRASHED
    )
    assert failure.cause is LaunchCause.CRASHED


def test_lines_that_tell_more_outrank_a_kill_by_the_kernel(tmp_path):
    watch = watch_of(tmp_path, "vllm: error: unrecognized arguments: --no-such-flag\n", count().__next__)
    failure = watch.failure("exit code 2", started=False, otherwise=LaunchCause.UNKNOWN)
    assert failure.cause is LaunchCause.CONFIG


def test_a_fault_of_the_start_is_not_blamed_for_a_death_under_load(tmp_path):
    watch = watch_of(tmp_path, "OSError: [Errno 98] Address already in use\n")
    failure = watch.failure("signal 9", started=True, otherwise=LaunchCause.CRASHED)
    assert failure.cause is LaunchCause.CRASHED
