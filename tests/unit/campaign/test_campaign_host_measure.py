"""The effect of the host settings: launches in alternation, the settings there and gone, gain and bounds."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from autotune.campaign.host.effect import HostReading, HostVerdict, effect_of, launch_order
from autotune.campaign.host.measure import HostMeasuring
from autotune.campaign.interruption import InterruptibleClock
from autotune.campaign.parts import Bounds
from autotune.campaign.sides.side import HostSide, PreparedHost
from autotune.errors import LaunchCause, NotMeasurable, Refused
from autotune.events import Warned
from autotune.model.measurement import Invalid, InvalidReason
from autotune.model.service import Fact


def test_pairs_alternate_so_that_a_drift_cancels_out():
    assert launch_order(1) == (True, False)
    assert launch_order(3) == (True, False, False, True, True, False)
    for pairs in range(1, 20, 2):
        order = launch_order(pairs + 1)
        places = [place if flag else -place for place, flag in enumerate(order)]
        assert sum(order) == pairs + 1
        assert sum(places) == 0


def effect(reading, faster, slower):
    readings = [
        HostReading(number=number, with_settings=number % 2 == 0, level=reading(speed, half_width=0.004))
        for number, speed in enumerate(value for pair in zip(slower, faster, strict=True) for value in pair)
    ]
    return effect_of([replace(each, with_settings=each.number % 2 == 1) for each in readings], ())


def test_the_guides_three_percent_is_shown_by_three_pairs_of_half_a_percent(reading):
    found = effect(reading, (3090.0, 3085.0, 3095.0), (3000.0, 3004.0, 2997.0))
    assert found.gain.gain == pytest.approx(0.03, abs=0.001)
    assert found.verdict is HostVerdict.FASTER
    assert found.gain.low > 0.01
    assert found.with_settings.tokens_per_second == pytest.approx(3090.0)


@pytest.mark.parametrize(
    ("faster", "verdict"),
    [((3001.0, 2990.0, 3010.0), HostVerdict.NO_EFFECT_SHOWN), ((2800.0,) * 3, HostVerdict.SLOWER)],
)
def test_no_effect_and_a_loss_are_called_what_they_are(reading, faster, verdict):
    assert effect(reading, faster, (3000.0, 3004.0, 2997.0)).verdict is verdict


def test_a_side_without_a_valid_reading_gives_no_number(reading):
    invalid = Invalid(concurrency=8, reason=InvalidReason.REQUESTS_FAILED, detail="3 of 9")
    readings = (
        HostReading(number=1, with_settings=True, level=invalid),
        HostReading(number=2, with_settings=False, level=reading(10.0)),
    )
    with pytest.raises(NotMeasurable, match="with the host settings: requests_failed 3 of 9") as caught:
        effect_of(readings, ())
    assert caught.value.exit_code == 5


@pytest.fixture
def measuring(host, clock, campaign):
    """A host that is 3 % faster with its settings, as the guide says of the governor."""
    host.with_settings = False
    host.speed = lambda _settings: 3090.0 if host.with_settings else 3000.0

    @contextmanager
    def settings(listener):
        listener(Warned(message="governor: unavailable"))
        host.with_settings = True
        host.log.append("apply")
        try:
            yield PreparedHost(facts=(Fact(name="governor", value="powersave -> performance, applied"),))
        finally:
            host.with_settings = False
            host.log.append("restore")

    def make(pairs=2, lines=("governor: powersave -> performance, to be applied",), **changes):
        side = HostSide(
            engine=host,
            source=host,
            clock=InterruptibleClock(clock),
            host_lines=tuple(Fact(name="host", value=line) for line in lines),
            settings=settings,
        )
        session = SimpleNamespace(
            campaign=replace(campaign, rehearsed=True),
            side=replace(side, **changes),
            space=SimpleNamespace(concurrency=100),
            profile=SimpleNamespace(measuring=SimpleNamespace(final_half_width=0.01)),
            bounds=Bounds(max_launches=9, level_cap_seconds=600.0),
        )
        told = []
        return HostMeasuring(session=session, pairs=pairs, told=told.append), told

    return make


def test_the_settings_are_there_before_a_start_and_gone_after_the_stop(measuring, host, events):
    job, told = measuring()
    found = job.run(events.append)
    with_settings = ["apply", "start 200", "warm up", "measure 100", "stop 200", "restore"]
    without = ["start 200", "warm up", "measure 100", "stop 200"]
    assert host.log == [*with_settings, *without, *without, *with_settings]
    assert [reading.with_settings for reading in told] == [True, False, False, True]
    assert found.gain.gain == pytest.approx(0.03)
    assert found.settings[0].value == "powersave -> performance, applied"
    assert sum(isinstance(event, Warned) for event in events) == 1, "a warning is told once"


def test_the_launches_without_use_the_engine_that_binds_nothing(measuring, host, clock, events):
    plain = replace(host, log=[], speed=lambda _settings: 2000.0)
    job, _ = measuring(plain_engine=plain)
    job.run(events.append)
    assert plain.log == ["start 200", "stop 200"] * 2


def test_settings_that_change_nothing_are_not_compared(measuring, events):
    job, _ = measuring(lines=("governor: unavailable (no CPU frequency driver)",))
    job = replace(job, session=SimpleNamespace(**vars(job.session)))
    job.session.campaign = replace(job.session.campaign, rehearsed=False)
    with pytest.raises(Refused, match="change nothing here: governor: unavailable"):
        job.run(events.append)


def test_a_start_that_fails_ends_it_and_the_settings_are_gone(measuring, host, events):
    host.failing[200] = LaunchCause.MEMORY
    job, _ = measuring()
    with pytest.raises(NotMeasurable, match=r"launch 1 failed \(memory\)"):
        job.run(events.append)
    assert host.log[-1] == "restore"
