"""The built-in client as the campaign sees it."""

from dataclasses import dataclass, field, replace

import pytest

from autotune.errors import LaunchCause, LaunchFailed
from autotune.events import LevelProgress
from autotune.load.own_source import OwnSource
from autotune.model.measurement import Invalid, InvalidReason, Measurement
from autotune.model.protocols import LevelRequest
from autotune.model.service import Counters, Endpoint

STEADY = ("--first-ms", "10", "--step-ms", "10")


@dataclass
class FakeService:
    """A service whose counters are what the test says."""

    port: int
    running: int | None = None
    waiting: int = 0
    asked: int = 0
    dies_after: int | None = None
    blocks: None = None
    told: list = field(default_factory=list)

    @property
    def endpoint(self):
        return Endpoint(url=f"http://127.0.0.1:{self.port}", model_name="m")

    def counters(self):
        if self.running is None:
            return None
        self.asked += 1
        return Counters(running=self.running, waiting=self.waiting, preemptions=10 * self.asked)

    def check(self):
        if self.dies_after is not None:
            self.dies_after -= 1
            if self.dies_after < 0:
                raise LaunchFailed(LaunchCause.CRASHED, "exit code 1")


def source(make_workload, **changes):
    return OwnSource(make_workload(output=40, low=10), "tgi", time_scale=60.0, **changes)


LEVEL = LevelRequest(concurrency=16, half_width=0.05, cap_seconds=120.0)


def test_a_level_is_a_measurement_with_progress_about_once_a_second(mock, make_workload):
    events = []
    two_seconds = replace(LEVEL, half_width=0.01)
    with mock(*STEADY) as server:
        one = source(make_workload)
        service = FakeService(server.port, running=15)
        one.warm_up(service)
        level = one.measure(service, two_seconds, events.append)
    assert isinstance(level, Measurement)
    assert level.concurrency == level.concurrency_reached == 16
    assert level.running_mean == 15
    assert level.preemptions >= 10
    assert level.failed == ()
    assert events
    assert all(isinstance(event, LevelProgress) for event in events)


def test_levels_go_on_in_the_row_of_prompts_and_a_new_launch_begins_it_again(mock, make_workload):
    with mock(*STEADY) as server:
        one, service = source(make_workload), FakeService(server.port)
        one.warm_up(service)
        one.measure(service, LEVEL, lambda event: None)
        assert one._next_request > 16
        one.warm_up(service)
    assert one._next_request == 0


def test_requests_of_others_make_a_level_invalid(mock, make_workload):
    with mock(*STEADY) as server:
        level = source(make_workload).measure(FakeService(server.port, running=40), LEVEL, lambda event: None)
    assert isinstance(level, Invalid)
    assert level.reason is InvalidReason.FOREIGN_REQUESTS


def test_a_service_that_dies_under_load_makes_a_level_invalid(mock, make_workload):
    with mock(*STEADY) as server:
        service = FakeService(server.port, dies_after=1)
        level = source(make_workload).measure(service, LEVEL, lambda event: None)
    assert isinstance(level, Invalid)
    assert (level.reason, level.detail.split(";")[0]) == (InvalidReason.SERVICE_DIED, "exit code 1")


def test_a_warm_up_without_an_answer_is_a_failed_launch(mock, make_workload):
    with mock(*STEADY) as server:
        server.kill()
        with pytest.raises(LaunchFailed, match="nothing listens"):
            source(make_workload).warm_up(FakeService(server.port))


@pytest.mark.slow
def test_a_slow_service_is_told_early_when_only_more_than_it_would_do(mock, make_workload):
    with mock(*STEADY) as server:
        request = LevelRequest(concurrency=16, half_width=0.001, cap_seconds=600.0, stop_below=1e6)
        one = source(make_workload)
        level = one.measure(FakeService(server.port), request, lambda event: None)
    assert isinstance(level, Measurement)
    assert one.last_reading.test_seconds < 500


@pytest.mark.slow
def test_replies_of_another_length_than_in_the_first_level_are_another_workload(mock, make_workload):
    with mock(*STEADY) as server, mock(*STEADY, "--natural", "1.0") as other:
        one = source(make_workload)
        wide = replace(LEVEL, concurrency=64)
        first = one.measure(FakeService(server.port), wide, lambda event: None)
        second = one.measure(FakeService(other.port), wide, lambda event: None)
    assert isinstance(first, Measurement)
    assert isinstance(second, Invalid)
    assert second.reason is InvalidReason.TOKEN_DRIFT


@pytest.mark.slow
def test_open_loop_keeps_the_level_that_was_asked_for(mock, make_workload):
    with mock(*STEADY) as server:
        one = source(make_workload, rate=1.5)
        level = one.measure(FakeService(server.port), LEVEL, lambda event: None)
    assert isinstance(level, Measurement)
    assert level.concurrency == 16
    assert level.concurrency_reached < 60
