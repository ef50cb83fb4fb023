"""What the service says of itself beside the load, and how often it is asked."""

from collections import deque

import pytest

from autotune.load.polling import Polling, poll_seconds
from autotune.model.service import Counters


class Told:
    """A service with so many running requests at each look."""

    def __init__(self, *running):
        self._left = deque(running)

    def counters(self):
        return Counters(running=self._left.popleft(), waiting=0, preemptions=0)

    def check(self):
        pass


def test_the_mean_of_running_requests_leaves_out_the_looks_before_and_after_the_load():
    with Polling(Told(0, 24, 20, 1), period=100.0) as polling:
        polling._ask()
        polling._ask()
    assert polling.running_mean(100.0) == 22.0


def test_a_level_without_a_look_in_between_has_no_such_mean():
    with Polling(Told(0, 1), period=100.0) as polling:
        pass
    assert polling.running_mean(100.0) is None


@pytest.mark.parametrize(("time_scale", "seconds"), [(1.0, 2.0), (4.0, 0.5), (40.0, 0.2), (0.5, 2.0)])
def test_a_service_that_runs_faster_is_asked_more_often(time_scale, seconds):
    assert poll_seconds(time_scale) == seconds
