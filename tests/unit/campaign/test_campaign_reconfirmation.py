"""A winner of trials with other host settings is proven without them before it is applied, or stays out."""

from dataclasses import replace

import pytest

from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.reconfirmation import PAIRS, Reconfirmation
from autotune.campaign.sides.side import HostSide
from autotune.errors import Interrupted, LaunchCause, NotMeasurable, Refused
from autotune.model.protocols import LevelRequest
from autotune.model.settings import Settings

FOUND = Settings(max_batch_size=200, max_prefill_batch_size=100)
WINNER = Settings(max_batch_size=400, max_prefill_batch_size=200)
REQUEST = LevelRequest(concurrency=100, half_width=0.01, cap_seconds=600.0)


def proof(host, clock, events, *, seconds=1e9, **side):
    return Reconfirmation(
        side=HostSide(**{"engine": host, "source": host, "clock": InterruptibleClock(clock)} | side),
        request=REQUEST,
        listener=events.append,
        seconds_left=lambda: seconds - clock.now(),
        least_gain=0.01,
        launch_seconds=300.0,
    )


def test_a_clear_gain_needs_one_launch_of_each(host, clock, events):
    fact = proof(host, clock, events).run(FOUND, WINNER)
    assert fact.value.startswith("without the host settings of the trials: +16.7% over what was found")
    assert [line for line in host.log if line.startswith("start")] == ["start 200", "start 400"]
    assert "2 to 4 launches" in events[0].message


def test_a_gain_that_is_not_there_without_the_settings_is_refused_after_the_last_pair(host, clock, events):
    host.speed = lambda settings: 1000.0 + 0.01 * settings.max_batch_size
    with pytest.raises(Refused, match=r"it reads \+0\.2% over what was found, -\d") as refused:
        proof(host, clock, events).run(FOUND, WINNER)
    assert "host.keep: true" in refused.value.hint
    assert len([line for line in host.log if line.startswith("start")]) == 2 * PAIRS


def test_a_second_pair_decides_what_the_first_left_open(host, clock, events):
    host.speed = lambda settings: 1000.0 + 0.08 * settings.max_batch_size
    fact = proof(host, clock, events).run(FOUND, WINNER)
    assert "by 2 launches of each" in fact.value


def test_the_service_runs_where_production_runs_and_not_on_the_cpus_of_the_trials(host, clock, events):
    bound = replace(host, log=[])
    proof(host, clock, events, engine=bound, plain_engine=host).run(FOUND, WINNER)
    assert host.log[0] == "start 200"
    assert bound.log == []


def test_without_time_nothing_is_started(host, clock, events):
    with pytest.raises(Refused, match="no time is left"):
        proof(host, clock, events, seconds=299.0).run(FOUND, WINNER)
    assert host.log == []


def test_a_launch_that_fails_or_reads_nothing_proves_nothing(host, clock, events):
    host.failing[400] = LaunchCause.MEMORY
    with pytest.raises(NotMeasurable, match=r"without the host settings failed \(memory\)"):
        proof(host, clock, events).run(FOUND, WINNER)
    assert host.up is None


def test_an_interruption_stops_the_service_and_applies_nothing(host, clock, events):
    def interrupt():
        raise KeyboardInterrupt

    host.on_measure = interrupt
    with pytest.raises(Interrupted):
        proof(host, clock, events).run(FOUND, WINNER)
    assert host.up is None
